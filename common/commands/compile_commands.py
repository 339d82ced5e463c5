#!/usr/bin/env python3
"""Writes compile_commands.json, by which editors (clangd) know how each file is compiled: the course's own code as
common/build/rules.mk compiles it, and every .cu file as the C++ that the executor takes it for."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

RULES = ["make", "-s", "-f", "common/build/rules.mk"]


def object_of(source: Path) -> str:
    return f"build/cpu/obj/{source}.o"


def commands_of(sources: list[Path]) -> list[dict]:
    """What make would run for each object, asked without running it."""
    dry = subprocess.run([*RULES, "-n", "-B", *map(object_of, sources)], check=True, text=True, stdout=subprocess.PIPE).stdout
    entries = []
    for line in dry.splitlines():
        words = shlex.split(line.lstrip("@")) if " -c " in line else []
        if "-c" in words:
            entries.append({"directory": str(Path.cwd()), "file": words[words.index("-c") + 1], "arguments": words})
    return entries


def main() -> int:
    sources = sorted(p for p in [*Path("common").rglob("*.cpp"), *Path("labs").rglob("*.cpp")] if p.name != "worker.cpp")
    entries = commands_of(sources)
    kernel = ["c++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Icommon/simt/include",
              "-Icommon/rung", "-Icommon/ops", "-Icommon/testing", "-Icommon/reference", "-Icommon/simt", "-Icommon/bench", "-c"]
    for source in [Path("common/rung/worker.cpp"), *sorted(p for p in Path(".").rglob("*.cu") if p.parts[0] != "build")]:
        entries.append({"directory": str(Path.cwd()), "file": str(source), "arguments": [*kernel, str(source)]})
    Path("compile_commands.json").write_text(json.dumps(entries, indent=1) + "\n")
    print(f"compile_commands.json: {len(entries)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
