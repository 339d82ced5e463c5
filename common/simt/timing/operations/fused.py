"""Operations of GCC's output that a GPU does in one instruction with another one, or that its compiler does: they cost nothing."""

from __future__ import annotations

import re

import loops as shapes
from costs import BINARY, SQUARE, SSA, Names


def operands(names: Names, definitions: shapes.Definitions) -> tuple[set[str], set[str]]:
    """What the only instruction that reads it does, too: a product of a sum (FFMA, IMAD), a logical operation of another one (LOP3), a sum of
    another sum of integers (IADD3). And those sums that only the units of integers can take: IMAD has no third summand."""
    found: set[str] = set()
    of_integers_alone: set[str] = set()
    takes: set[str] = set()  # what has such an operand
    for name, text in definitions.text.items():
        match = BINARY.match(text)
        if not match or match[2] not in "+-&|^" or match[2] in "&|^" and name in found:
            continue
        of_integers = not names.is_float(name) and not names.is_double(name)
        for wanted in ("*", "+-") if match[2] in "+-" and of_integers else ("*",) if match[2] in "+-" else ("&|^",):
            side = next((side for side in (match[1], match[3]) if is_operand(names, definitions, name, side, wanted, takes)), None)
            if side:
                found.add(side)
                takes.add(name)
                if wanted == "+-":
                    of_integers_alone.add(name)
                break
    return found, of_integers_alone


def is_operand(names: Names, definitions: shapes.Definitions, name: str, side: str, wanted: str, takes: set[str]) -> bool:
    match = BINARY.match(definitions.text.get(side, ""))
    if not match or side.startswith(SQUARE) or names.uses.get(side) != 1 or "_Bool" in names.declaration(side):
        return False
    if wanted == "+-" and (side in takes or names.is_pointer(name) or names.is_wide(side) != names.is_wide(name)):
        return False
    return match[2] in wanted


def decided(definitions: shapes.Definitions, loops: list[shapes.Loop]) -> set[str]:
    """Numbers, once the loops that are unrolled to their end are: what follows from their counters alone."""
    found: set[str] = set()
    for loop in reversed(loops):  # outer ones first: an inner loop may begin at the outer one's counter
        if loop.unroll != 0:
            continue
        for name in (name for name in definitions.phi if definitions.block[name] == loop.header and name in loop.steady):
            first = definitions.first(loop, name)
            if first is not None and (re.match(r"-?\d", first) or first in found):
                found.add(name)
        within = definitions.within(loop)
        while more := {name for name, text in within if name not in found and "[" not in text
                       and SSA.findall(text) and found.issuperset(SSA.findall(text))}:
            found |= more
    return found
