#!/usr/bin/env python3
"""What the instructions of an instrumented object are, for the model of a GPU's time: operations OBJECT DUMP [KERNELS] > TABLE.

OBJECT is compiled with -fdump-tree-optimized-lineno=DUMP; or it is a folder with what readelf says of that (hooks.py). ../operations.h says what the table holds.
KERNELS has a line for each kernel that is of interest, its symbol; without it all are.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cores  # noqa: E402
import gimple  # noqa: E402
import hooks  # noqa: E402
import table  # noqa: E402


BIG = 1 << 20  # bytes of a dump: a smaller one is read sooner than processes start


def texts_of(functions: list[gimple.Function], calls: dict[str, list[tuple[int, str]]], kernels: set[str] | None,
             big: bool) -> list[str]:
    """The table's lines of each function. Of a big program, for which a student would wait, all cores read functions."""
    known = table.names_of(functions)
    reached = gimple.reached(functions, kernels)

    def text_of(number: int) -> str:
        function = reached[number]
        return "\n".join(table.lines_of(function, calls.get(function.symbol, []), known))

    processes = min(len(os.sched_getaffinity(0)), len(reached))
    if not big or processes < 2 or len(reached) > 1 << 15:  # 64 KiB of numbers, which a pipe holds
        return list(map(text_of, range(len(reached))))
    return cores.by_processes(len(reached), text_of, processes)


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    obj, dump = sys.argv[1:3]
    kernels = set(Path(sys.argv[3]).read_text().split()) if len(sys.argv) == 4 else None
    functions = gimple.functions(dump)
    calls = hooks.calls_of(obj)
    gc.freeze()  # all of this stays: no search for garbage need look at it
    print("simt_operations 2")
    for text in texts_of(functions, calls, kernels, Path(dump).stat().st_size > BIG):
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
