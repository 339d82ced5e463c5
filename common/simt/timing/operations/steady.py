"""What follows from a loop's counters alone: in rounds that stand one after another it is an offset in an instruction, and costs nothing."""

from __future__ import annotations

import loops as shapes
from costs import BINARY, SSA, Names
from remembered import Remembered

LITERAL = Remembered(r"^-?\d")  # of floats, too
CAST = Remembered(r"^\(([^()]*)\) (\S+)$")


def outside(definitions: shapes.Definitions, loop: shapes.Loop, side: str, operator: str) -> bool:
    """Not changed by the loop; a factor must be a constant for its multiples to be offsets."""
    if shapes.number_of(side) is not None:
        return True
    return operator in "+-" and definitions.block.get(side) not in loop.blocks


def widened(definitions: shapes.Definitions, names: Names, loop: shapes.Loop) -> set[str]:
    """Indices of 32 bits that the loop makes addresses of. Unsigned ones may wrap, so that nvcc keeps no pointer in their place: each
    round widens its own."""
    return {name for name, text in definitions.within(loop)
            for cast in [CAST.match(text)] if cast and names.is_wide(name) and "unsigned" in names.declaration(cast[2]) and not names.is_wide(cast[2])}


def reachable(definitions: shapes.Definitions, loop: shapes.Loop) -> set[str]:
    """All that follows from the loop's counters, and from what grows by something that the loop does not change."""
    found, grown = set(loop.steady), True
    for phi in (name for name in definitions.phi if definitions.block[name] == loop.header):
        for block, name in definitions.phi[phi].items():
            sum_of = BINARY.match(definitions.text.get(name, "")) if block in loop.latches else None
            if sum_of and sum_of[2] == "+" and phi in (sum_of[1], sum_of[3]):
                other = sum_of[3] if sum_of[1] == phi else sum_of[1]
                found |= {phi} if definitions.block.get(other) not in loop.blocks else set()
    within = definitions.within(loop)
    while grown:
        more = {name for name, text in within if name not in found
                and any(part in found for part in SSA.findall(text)) and "MEM" not in text and "*" not in text.replace(" * ", "")}
        found |= more
        grown = bool(more)
    return found


def is_of_floats(names: Names, name: str) -> bool:
    return names.is_float(name) or names.is_double(name)


def values(definitions: shapes.Definitions, loop: shapes.Loop, names: Names, decided: set[str]) -> set[str]:
    """decided: numbers in each round. What else follows from the counters is an offset only if it is an integer: no offset passes a conversion to a
    float, or a sum of floats."""
    found = set(loop.steady)
    stay = widened(definitions, names, loop) if loop.unroll != 0 else set()
    within = definitions.within(loop)
    grown = True
    while grown:
        grown = False
        for name, text in within:
            if name in found or name in stay:
                continue
            if is_of_floats(names, name) and name not in decided:
                continue
            match = BINARY.match(text)
            cast = CAST.match(text)
            if cast and cast[2] in found:
                pass
            elif match and match[2] in ("+", "-", "*", "<<") and any(side in found for side in (match[1], match[3])) and \
                    all(side in found or outside(definitions, loop, side, match[2]) for side in (match[1], match[3])):
                pass
            elif loop.unroll == 0 and match and not names.is_double(name) and all(side in found or LITERAL.match(side) for side in (match[1], match[3])):
                pass
            else:
                continue
            found.add(name)
            grown = True
    return found - needed(definitions, loop, names, found - decided)


ABSORBING = Remembered(r"^(\+|-|\*|<<|w\*)$")
COMPARING = ("<", ">", "<=", ">=", "==", "!=")


def needed(definitions: shapes.Definitions, loop: shapes.Loop, names: Names, found: set[str]) -> set[str]:
    """Offsets that an instruction reads which has no place for a constant: neither a sum nor an address. They are sums of their own."""
    more: set[str] = set()
    for name, text in definitions.within(loop):
        if name in found or "MEM" in text or text.startswith(("*", "&")):
            continue
        match, cast = BINARY.match(text), CAST.match(text)
        if cast and not is_of_floats(names, name) or match and (ABSORBING.match(match[2]) and not is_of_floats(names, name) or
                                                               match[2] in COMPARING and any(LITERAL.match(side) for side in (match[1], match[3]))):
            continue
        more |= {part for part in SSA.findall(text) if part in found and part not in loop.steady and BINARY.match(definitions.text.get(part, "")) and not names.is_pointer(part)}
    return more


def by_block(definitions: shapes.Definitions, loops: list[shapes.Loop], names: Names, decided: set[str]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for loop in loops:
        if loop.unroll == 1:
            continue
        of_loop = values(definitions, loop, names, decided)
        for n in loop.blocks:
            found.setdefault(n, set()).update(of_loop)
    return found
