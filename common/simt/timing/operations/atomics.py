"""What nvcc knows of an atomic: by the loop of the executor's own that does it (simt/atomics.h)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import costs

PARAMETER = re.compile(r"\w+\(D\)")
NUMBER = re.compile(r"-?\d+")
VARIABLE = re.compile(r"&[A-Za-z_]\w*")
POSITION = re.compile(r"(?:blockIdx|blockDim|gridDim)\.[xyz]")
ARITHMETIC = {"+", "-", "*", "<<", ">>", "&", "|", "^"}


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
    """Is it plainly one address for all threads of a block? Then nvcc adds up a warp's first. It is of what a parameter, the address of a variable
    of the module, and the block's place say, and loads nothing."""
    return is_uniform(definitions, arguments.partition(",")[0].strip(), 12)


def is_uniform(definitions, value: str, depth: int) -> bool:
    text = definitions.text.get(value)
    if text is None:
        return bool(PARAMETER.fullmatch(value) or NUMBER.fullmatch(value) or VARIABLE.fullmatch(value))
    if depth == 0:
        return False
    if POSITION.fullmatch(text):
        return True
    cast = costs.CAST.match(text)
    parts = [cast[2]] if cast else text.split(" ")[::2]
    operators = [] if cast else text.split(" ")[1::2]
    return all(operator in ARITHMETIC for operator in operators) and all(is_uniform(definitions, part, depth - 1) for part in parts)
