#!/usr/bin/env python3
"""What the instructions of an instrumented object are, for the model of a GPU's time: operations OBJECT DUMP > TABLE.

OBJECT is compiled with -fdump-tree-optimized-lineno=DUMP; or it is a folder with what readelf says of that (hooks.py). ../operations.h says what the table holds.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import gimple  # noqa: E402
import hooks  # noqa: E402
import table  # noqa: E402


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    obj, dump = sys.argv[1:]
    functions = gimple.functions(dump)
    calls = hooks.calls_of(obj)
    print("simt_operations 2")
    known = table.names_of(functions)
    for function in gimple.reached(functions):
        print("\n".join(table.lines_of(function, calls.get(function.symbol, []), known)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
