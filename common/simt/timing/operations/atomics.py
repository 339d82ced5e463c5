"""What nvcc knows of an atomic: by the loop of the executor's own that does it (simt/atomics.h)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import costs


def kind_of(table, n: int, arguments: str) -> str:
    """Of the one in which block n ends."""
    sums = list(sums_of(table.function, n))
    if any(table.names.is_float(to) or table.names.is_double(to) for to, _ in sums):
        return "of floats"
    if is_of_all(table.definitions, arguments):
        return "of one"
    # Nobody asks what was there: then shared memory counts a warp's lanes at an address by itself (ATOMS.POPC.INC).
    return "by one" if any(sum[2] == "+" and sum[3] == "1" and table.names.uses.get(sum[1]) == 1 for _, sum in sums) else ""


def sums_of(function, n: int) -> Iterator[tuple[str, re.Match]]:
    """What it computes in the loop behind it, until nobody came between."""
    for to in function.blocks[n].next:
        for statement in function.blocks[to].statements:
            target, _, source = statement.text.partition(" = ")
            found = costs.BINARY.match(source.removesuffix(";"))
            if found and statement.file.endswith("simt/atomics.h"):
                yield target, found


def is_of_all(definitions, arguments: str) -> bool:
    """Is it plainly one address for all threads, a parameter or a variable of the module? Then nvcc adds up a warp's first."""
    address = arguments.partition(",")[0].strip()
    for _ in range(4):
        text = definitions.text.get(address, "")
        cast, offset = costs.CAST.match(text), re.fullmatch(r"(\S+) \+ \d+", text)
        address = cast[2] if cast else offset[1] if offset else address
    return address.endswith("(D)") or bool(re.fullmatch(r"&[A-Za-z_]\w*", address))
