#!/usr/bin/env python3
"""Asks nvcc about the programs of the table and writes table/nvcc.json: ask_nvcc.py [NAME ...]. Without names, about those that
are not in it yet; --all: about every one. Minutes, on two cores."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import table  # noqa: E402: beside this file


def main(argv: list[str]) -> int:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    known = table.verdicts() if table.VERDICTS.is_file() and "--all" not in argv else {}
    programs = {program.name: program for program in table.programs()}
    asked = [program for name, program in programs.items() if name in argv or name not in known]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda program: table.ask_nvcc(nvcc, program, Path(folder)), asked)
        for program, answer in zip(asked, answers):
            print(program.name, "accepted" if answer["accepted"] else f"refused: {answer['message']}", flush=True)
            known[program.name] = answer
            rows = [f'"{name}": {json.dumps(known[name])}' for name in programs if name in known]
            table.VERDICTS.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
