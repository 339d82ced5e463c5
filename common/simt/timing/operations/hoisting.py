"""Quotients that GCC leaves in a loop, as they might trap, though nothing in them changes: nvcc computes them before the loop, with all that follows
from them alone."""

from __future__ import annotations

import loops as shapes
from costs import BINARY, SSA, Names
from gimple import Block
from steady import CAST


def before_loop(blocks: dict[int, Block], loop: shapes.Loop) -> int | None:
    """The only block that the loop is entered from."""
    entries = [n for n, block in blocks.items() if n not in loop.blocks and loop.header in block.next]
    return entries[0] if len(entries) == 1 else None


def unchanged(definitions: shapes.Definitions, names: Names, loop: shapes.Loop, dominating: dict[int, set[int]]) -> set[str]:
    found: set[str] = set()
    grown = True
    while grown:
        grown = False
        for name, text in definitions.text.items():
            block = definitions.block[name]
            if name in found or block not in loop.blocks:
                continue
            match, cast = BINARY.match(text), CAST.match(text)
            sides = [match[1], match[3]] if match else [cast[2]] if cast else []
            parts = [side for side in sides if SSA.fullmatch(side)]
            if not parts or not all(part in found or definitions.block.get(part) not in loop.blocks for part in parts):
                continue
            divides = bool(match) and match[2] in "/%" and not names.is_float(name) and not names.is_double(name)
            each_round = all(block in dominating.get(latch, ()) for latch in loop.latches)
            if divides and each_round or any(part in found for part in parts):
                found.add(name)
                grown = True
    return found


def hoist(function_blocks: dict[int, Block], definitions: shapes.Definitions, names: Names, loops: list[shapes.Loop], dominating: dict[int, set[int]],
          operations: dict[int, list[tuple]]) -> None:
    """Moves their operations; inner loops come first."""
    for loop in loops:
        to = before_loop(function_blocks, loop)
        if to is None:
            continue
        moved = unchanged(definitions, names, loop, dominating)
        for n in sorted(loop.blocks):
            out = [one for one in operations[n] if one[4] in moved]
            if out:
                operations[to] += out
                operations[n] = [one for one in operations[n] if one[4] not in moved]
        for name in moved:
            definitions.block[name] = to
