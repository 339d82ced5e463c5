#!/usr/bin/env python3
"""rewritten.py [--refuse-nothing] NAME < FILE.cu: a rung as C++ for the executor, on stdout. NAME is the file's name in messages, its lines keep their numbers.

What is refused, and a launch that is not understood, becomes an #error of its line: the compiler then says it as it says all else. A rung
may use inline PTX, as a program of simtcc may. Conditions on __CUDA_ARCH__ are left to the preprocessor, which does not define it: a rung
has code for the CPU there if it needs some. --refuse-nothing: what the executor does not have stays as it is; the grader has rules of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cuda_source


def rewritten(text: str, name: str, refuse: bool = True) -> str:
    try:
        return cuda_source.as_cpp(cuda_source.of_text(Path(name), text), decide_arch=False, refuse=refuse)
    except cuda_source.UserError as error:
        line, what = str(error).removeprefix(f"{name}:").split(": ", 1)
        return f'#line {line} "{name}"\n#error {what}\n'


if __name__ == "__main__":
    given = sys.stdin.buffer.read().decode(errors="surrogateescape")
    sys.stdout.buffer.write(rewritten(given, sys.argv[-1], "--refuse-nothing" not in sys.argv[1:-1]).encode(errors="surrogateescape"))
