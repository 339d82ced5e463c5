#!/usr/bin/env python3
"""rewritten.py [--refuse-nothing] [--part 2/3] NAME < FILE.cu: a rung as C++ for the executor, on stdout. NAME is the file's name in messages, its lines keep their
numbers.

What is refused, and a launch that is not understood, becomes an #error of its line: the compiler then says it as it says all else. A rung
may use inline PTX, as a program of simtcc may. Conditions on __CUDA_ARCH__ are left to the preprocessor, which does not define it: a rung
has code for the CPU there if it needs some. --refuse-nothing: what the executor does not have stays as it is; the grader has rules of its own.
--part: of the rung's table only these rows, and so only the kernels that they need. What cannot be divided is whole in the first part, and the others are empty.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import cuda_source
from source_text import closing, of_text


def rewritten(text: str, name: str, refuse: bool = True) -> str:
    try:
        return cuda_source.as_cpp(cuda_source.of_text(Path(name), text), decide_arch=False, refuse=refuse)
    except cuda_source.UserError as error:
        line, what = str(error).removeprefix(f"{name}:").split(": ", 1)
        return f'#line {line} "{name}"\n#error {what}\n'


def rows(code: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Where the arguments of a macro lie, between its brackets."""
    found, depth = [begin], 0
    for at in range(begin, end):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if code[at] == "," and not depth:
            found.append(at + 1)
    return list(zip(found, [*(at - 1 for at in found[1:]), end]))


def part_of(text: str, part: int, parts: int) -> str:
    """A rung with these rows of its table alone (RUNG_EXPORT_PART)."""
    code = of_text(Path(), text).code
    exports = list(re.finditer(r"^RUNG_EXPORT\s*\(", code, re.MULTILINE))
    end = closing(code, exports[0].end() - 1) if len(exports) == 1 else -1
    found = rows(code, exports[0].end(), end) if end >= 0 else []
    if len(found) < parts or len(code) != len(text) or "#" in code[exports[0].end():end]:
        return text if part == 1 else ""
    first, last = (len(found) * p // parts for p in (part - 1, part))
    kept = range(found[first][0], found[last - 1][1])
    table = "".join(c if at in kept or c == "\n" else " " for at, c in enumerate(text[:end]))[exports[0].end():]
    return text[:exports[0].start()] + "RUNG_EXPORT_PART(" + table + text[end:]


def main() -> None:
    *options, name = sys.argv[1:]  # each compilation starts this, and argparse takes as long as a short file
    given = sys.stdin.buffer.read().decode(errors="surrogateescape")
    if "--part" in options:
        given = part_of(given, *map(int, options[options.index("--part") + 1].split("/")))
    sys.stdout.buffer.write(rewritten(given, name, "--refuse-nothing" not in options).encode(errors="surrogateescape"))


if __name__ == "__main__":
    main()
