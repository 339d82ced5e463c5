"""The programs that the rules are judged by, and what nvcc says of each (table/). A file of the table holds many programs:

    //// name --options-of-nvcc
    text
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent / "table"
VERDICTS = FOLDER / "nvcc.json"
# nvcc's own messages name a line; those of the assembler, ptxas, do not.
ERROR = re.compile(r"^(?:[^\s:(]+\((?P<line>\d+)\): [eE]rror: |(?:ptxas|nvlink)\s*(?:error|fatal)\s*: |[^\s:(]+:(?P<g_line>\d+):\d+: error: )(?P<text>.*)$")


class Program(NamedTuple):
    name: str
    options: list[str]
    text: str


def programs() -> list[Program]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        parts = re.split(r"^//// (\w+)(.*)\n", path.read_text(), flags=re.MULTILINE)
        found += [Program(name, options.split(), text) for name, options, text in zip(parts[1::3], parts[2::3], parts[3::3])]
    return found


def verdicts() -> dict[str, dict]:
    return json.loads(VERDICTS.read_text())


def ask_nvcc(nvcc: str, program: Program, folder: Path) -> dict:
    """accepted, the lines of its errors, and the first of them."""
    source = folder / f"{program.name}.cu"
    source.write_text(program.text)
    ended = subprocess.run([nvcc, "-arch=sm_90", "-std=c++17", *program.options, "-c", source.name, "-o", f"{program.name}.o"], cwd=folder,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    errors = [match for line in ended.stdout.splitlines() if (match := ERROR.match(line))]
    lines = sorted({int(match["line"] or match["g_line"]) for match in errors if match["line"] or match["g_line"]})
    return {"accepted": ended.returncode == 0, "lines": lines, "message": errors[0]["text"].strip() if errors else ""}
