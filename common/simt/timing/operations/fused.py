"""Operations of GCC's output that a GPU does in one instruction with another one, or that its compiler does: the table gives them no cost."""

from __future__ import annotations

import re

import costs
import loops as shapes
from costs import BINARY, SSA, Names

MOST_OFFSET = 1 << 23  # bytes, either way, that an access adds to its address


def operands(names: Names, definitions: shapes.Definitions) -> tuple[set[str], set[str]]:
    """What the only instruction that reads it does, too: a product of a sum (FFMA, IMAD), a logical operation of another one (LOP3), a sum or a
    shift to the left of a sum of integers (IADD3, LEA). And those sums that only the units of integers can take: IMAD has no third summand."""
    found: set[str] = set()
    of_integers_alone: set[str] = set()
    takes: set[str] = set()  # what has such an operand
    for name, text in definitions.text.items():
        match = BINARY.match(text)
        if not match or match[2] not in "+-&|^" or match[2] in "&|^" and name in found:
            continue
        of_integers = not names.is_float(name) and not names.is_double(name)
        for wanted in ("*", "+-", "<<") if match[2] in "+-" and of_integers else ("*",) if match[2] in "+-" else ("&|^",):
            side = next((side for side in (match[1], match[3]) if is_operand(names, definitions, name, side, wanted, takes)), None)
            if side:
                found.add(side)
                takes.add(name)
                if wanted in ("+-", "<<"):
                    of_integers_alone.add(name)
                break
    return found, of_integers_alone


def is_operand(names: Names, definitions: shapes.Definitions, name: str, side: str, wanted: str, takes: set[str]) -> bool:
    match = BINARY.match(definitions.text.get(side, ""))
    if not match or names.uses.get(side) != 1 or "_Bool" in names.declaration(side):
        return False
    if wanted == "<<":
        return match[2] == "<<" and shapes.number_of(match[3]) is not None
    if wanted == "+-" and (side in takes or names.is_pointer(name) or names.is_wide(side) != names.is_wide(name)):
        return False
    return match[2] in wanted


def place(names: Names, definitions: shapes.Definitions, name: str, depth: int = 8) -> tuple[str, int]:
    """An address or an index, and a constant number of bytes or elements from it. Not through a sum that may wrap before it is widened."""
    text = definitions.text.get(name, "")
    cast = costs.CAST.match(text)
    if depth and cast and names.is_wide(name) and not names.is_wide(cast[2]) and "unsigned" not in names.declaration(cast[2]):
        base, offset = place(names, definitions, cast[2], depth - 1)
        return f"({base})", offset
    match = BINARY.match(text)
    if not depth or not match or names.is_float(name) or names.is_double(name):
        return name, 0
    number = shapes.number_of(match[3])
    if match[2] in "+-" and number is not None and (names.is_wide(name) or "unsigned" not in names.declaration(name)):
        number -= 2**64 if number >= 2**63 else 0
        base, offset = place(names, definitions, match[1], depth - 1)
        return base, offset + (number if match[2] == "+" else -number)
    if match[2] == "*" and number is not None:
        base, offset = place(names, definitions, match[1], depth - 1)
        return f"{base}*{number}", offset * number
    if match[2] == "+" and names.is_pointer(name):
        (a, offset), (b, further) = place(names, definitions, match[1], depth - 1), place(names, definitions, match[3], depth - 1)
        return f"{a}+{b}", offset + further
    return name, 0


def offsets(names: Names, definitions: shapes.Definitions, dominating: dict[int, set[int]]) -> set[str]:
    """Addresses that are a constant number of bytes from one that is computed before: the access adds it."""
    found: set[str] = set()
    first: dict[str, list[tuple[int, int]]] = {}  # by what they are counted from: block, bytes
    for name, text in definitions.text.items():
        match = BINARY.match(text)
        if not match or match[2] != "+" or not names.is_pointer(name):
            continue
        base, offset = place(names, definitions, name)
        block = definitions.block[name]
        before = first.setdefault(base, [])
        if any(other in dominating.get(block, ()) and abs(offset - its) < MOST_OFFSET for other, its in before):
            found.add(name)
        else:
            before.append((block, offset))
        # The constant itself is never added to the index.
        step = BINARY.match(definitions.text.get(match[3], ""))
        if step and step[2] in "+-" and shapes.number_of(step[3]) is not None and names.uses.get(match[3]) == 1:
            found.add(match[3])
    return found


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
        while more := {name for name, text in definitions.text.items() if name not in found and definitions.block[name] in loop.blocks and "[" not in text
                       and SSA.findall(text) and found.issuperset(SSA.findall(text))}:
            found |= more
    return found
