"""Values that a branch chooses from those there were before it (best = x, second = best): a move on one side, or a selection where nvcc predicates the branch. A value that
is computed on a side is put where it belongs at once, and one of the others is there already."""

from __future__ import annotations

import loops as shapes
from costs import SSA, Names
from gimple import Function


def lines_of(function: Function, names: Names, definitions: shapes.Definitions, dominating: dict[int, set[int]], predicated: set[int], no_choice: set[int],
             number: dict[str, int]) -> dict[int, list[str]]:
    """The table's lines of each block. predicated: blocks that end in a branch which nvcc does without. no_choice: those whose outcome it
    knows, and the executor's own. number: of values that somebody reads."""
    headers = {to for n, block in function.blocks.items() for to in block.next if to in dominating.get(n, ())}
    found: dict[int, list[str]] = {}
    for n, block in function.blocks.items():
        if not block.phis or n in headers or len(dominating.get(n, ())) < 2:
            continue
        branch = max(dominating[n] - {n}, key=lambda other: len(dominating[other]))
        if branch in no_choice:
            continue
        for name, arguments in block.phis:
            if name not in number or "_Bool" in names.declaration(name):
                continue
            quarters = 8 if names.is_wide(name) or names.is_double(name) else 4
            for before in moved(function, names, definitions, dominating, branch, name, arguments):
                if branch in predicated or len(function.blocks[before].next) > 1:
                    found.setdefault(n, []).append(f"o i {quarters} 0 - -1 {number[name]} {number[name]}")
                else:
                    found.setdefault(before, []).append(f"o i {quarters} 0 - -1 - -")
    return found


def moved(function: Function, names: Names, definitions: shapes.Definitions, dominating: dict[int, set[int]], branch: int, name: str, arguments: dict[int, str]) -> list[int]:
    """The blocks, one for each value that has to be moved, from which control comes with it."""
    def was_there(value: str) -> bool:
        return bool(SSA.fullmatch(value)) and (value not in definitions.block or definitions.block[value] == branch or definitions.block[value] in dominating[branch])

    ways = {value: before for before, value in arguments.items() if was_there(value)}
    stays = min(ways, key=lambda value: (len(function.blocks[ways[value]].next) == 1, variable(value) != variable(name)), default=None)
    return [before for value, before in ways.items() if value != stays]


def variable(name: str) -> str:
    return name.removesuffix("(D)").rpartition("_")[0]
