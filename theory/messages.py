#!/usr/bin/env python3
"""Writes into messages.md what the examples of messages.cu say, beside their code. The executor runs them, under its checks.

    theory/messages.py            says where the page differs; status 1 if it does
    theory/messages.py --write    writes the page"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE, PROGRAM = HERE / "messages.md", HERE / "messages.cu"
BLOCK = re.compile(r"<!-- example: (?P<name>\w+) -->\n.*?<!-- end -->\n", re.DOTALL)
SECONDS = 60


def codes(text: str) -> dict[str, str]:
    """Of each example its lines, numbered."""
    found: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.fullmatch(r"// ---- (\w+)", line):
            name = match[1]
        elif name and name != "end":
            found.setdefault(name, []).append(f"{number:3}  {line}" if line else "")
    return {name: "\n".join(lines).rstrip() for name, lines in found.items()}


def shown(output: str) -> str:
    """Without what differs from machine to machine: the folder, and addresses of the host."""
    output = re.sub(r"[^\s:]*/(?=messages\.cu)", "", output)
    return re.sub(r"0x[0-9a-f]{9,}", "0x7f...", output).rstrip()


def said(program: Path, name: str) -> str:
    done = subprocess.run([program, name], env={**os.environ, "SIMT_DEVICES": "2"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=SECONDS)
    return shown(done.stdout)


def build(folder: Path) -> Path:
    program = folder / "messages"
    subprocess.run([ROOT / "common/simt/simtcc", "--check", PROGRAM, "-o", program], check=True)
    return program


def with_examples(page: str, program: Path) -> str:
    """The page with every example as it is now."""
    known = codes(PROGRAM.read_text())

    def block(match: re.Match) -> str:
        name = match["name"]
        return f"<!-- example: {name} -->\n```cuda\n{known[name]}\n```\n\n```text\n{said(program, name)}\n```\n<!-- end -->\n"

    return BLOCK.sub(block, page)


def main(argv: list[str]) -> int:
    page = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        wanted = with_examples(page, build(Path(folder)))
    if argv == ["--write"]:
        PAGE.write_text(wanted)
        return 0
    sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), wanted.splitlines(True), "messages.md", "what the examples say"))
    return int(page != wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
