#!/usr/bin/env python3
"""Writes a copy of a rung with another number of threads per block, for `make sweep02 OVER=threads`.

    block_size.py FILE THREADS OUT      status 2: the file does not say its block size in one place

The file must define it once, as the labs' files do: `constexpr int threads = 256;`.
"""

import re
import sys
from pathlib import Path

DEFINITION = re.compile(r"^(\s*(?:static |inline )*constexpr (?:int|unsigned|unsigned int) threads = )\d+;", re.MULTILINE)


def with_threads(text: str, threads: int, name: str) -> str:
    """ValueError unless the definition stands there once. Messages about the copy name the lines of the original."""
    found = DEFINITION.findall(text)
    if len(found) != 1:
        raise ValueError(f"{name}: `constexpr int threads = ...;` must stand in it once, for a copy with another block size; it has {len(found)}")
    return f'#line 1 "{name}"\n' + DEFINITION.sub(rf"\g<1>{threads};", text)


def main(argv: list[str]) -> int:
    file, threads, out = argv
    try:
        made = with_threads(Path(file).read_text(encoding="utf-8", errors="replace"), int(threads), file)
    except (ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    Path(out).write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
