#!/usr/bin/env python3
"""What the instructions of an instrumented object are, for the model of a GPU's time: operations OBJECT DUMP [KERNELS] > TABLE.

OBJECT is compiled with -fdump-tree-optimized-lineno=DUMP; or it is a folder with what readelf says of that (hooks.py). ../operations.h says what the table holds.
KERNELS has a line for each kernel that is of interest, its symbol; without it all are.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import gimple  # noqa: E402
import hooks  # noqa: E402
import table  # noqa: E402


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    obj, dump = sys.argv[1:3]
    kernels = set(Path(sys.argv[3]).read_text().split()) if len(sys.argv) == 4 else None
    functions = gimple.functions(dump)
    calls = hooks.calls_of(obj)
    print("simt_operations 2")
    known = table.names_of(functions)
    for function in gimple.reached(functions, kernels):
        print("\n".join(table.lines_of(function, calls.get(function.symbol, []), known)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
