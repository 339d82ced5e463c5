"""Tests that come out the same in all rounds of a loop and for all threads of a block: nvcc makes a loop for each outcome, so that no round tests or jumps."""

from __future__ import annotations

import re

import loops as shapes
from costs import BINARY, SSA
from steady import CAST, LITERAL

OF_BLOCK = re.compile(r"^(?:blockIdx|blockDim|gridDim)\.[xyz]$")
OF_THREAD = re.compile(r"^threadIdx\.[xyz]$")
TOGETHER = ("barrier", "grid_barrier", "call", "shuffle", "vote", "match", "reduce", "syncwarp", "active")  # what LLVM leaves where it is


class Settled:
    def __init__(self, table):
        self.definitions, self.function, self.dominating = table.definitions, table.function, table.dominating
        self.before: dict[int, list[int]] = {}
        for n, block in self.function.blocks.items():
            for to in block.next:
                self.before.setdefault(to, []).append(n)
        self.tests: dict[int, list[shapes.Loop]] = {}  # the loops that do not change a block's test, inner ones first
        for n, (a, _, b) in table.conditions.items():
            sides = [side for side in (a, b) if SSA.fullmatch(side)]
            if not sides or n in table.own_tests | table.transparent or len(self.function.blocks[n].next) != 2 or not all(self.is_one_for_all(side) for side in sides):
                continue
            around = [loop for loop in table.loops if n in loop.blocks and all(self.is_settled(side, loop) for side in sides) and not self.together(table, loop)]
            if around:
                self.tests[n] = around

    def parts(self, name: str) -> list[str] | None:
        """Of the operation that makes a value; None: it is none that gives the same of the same."""
        text = self.definitions.text.get(name, "")
        match, cast = BINARY.match(text), CAST.match(text)
        sides = [match[1], match[3]] if match else [cast[2]] if cast else [text]
        if any(not (SSA.fullmatch(side) or LITERAL.match(side) or OF_BLOCK.match(side) or OF_THREAD.match(side)) for side in sides):
            return None
        return sides

    def is_settled(self, name: str, loop: shapes.Loop, depth: int = 12) -> bool:
        if not SSA.fullmatch(name) or self.definitions.block.get(name) not in loop.blocks:
            return True
        parts = self.parts(name) if depth else None
        return parts is not None and all(self.is_settled(part, loop, depth - 1) for part in parts)

    def is_one_for_all(self, name: str, depth: int = 12) -> bool:
        """Has it one value for all threads of a block: an argument, a size, and what is made of them?"""
        if not SSA.fullmatch(name):
            return not OF_THREAD.match(name)
        if name.endswith("(D)"):
            return True
        parts = self.parts(name) if depth else None
        return parts is not None and all(self.is_one_for_all(part, depth - 1) for part in parts)

    @staticmethod
    def together(table, loop: shapes.Loop) -> bool:
        return any(operation[0].kind in TOGETHER for n in loop.blocks for operation in table.blocks[n])

    def elsewhere(self, cost: dict[int, float]) -> set[int]:
        """Of each such test the blocks of its shorter side, as the longer one decides how often its loop is unrolled."""
        found: set[int] = set()
        sides_of = {n: [{m for m, over in self.dominating.items() if to in over} for to in self.function.blocks[n].next] for n in self.tests}
        for n in sorted(sides_of, key=lambda n: len(sides_of[n][0] | sides_of[n][1])):  # inner ones first
            within = set.intersection(*(loop.blocks for loop in self.tests[n]))
            sides = [side & within for side, to in zip(sides_of[n], self.function.blocks[n].next) if list(self.before[to]) == [n]]
            if len(sides) == 2:
                found |= min(sides, key=lambda side: sum(cost[m] for m in side - found))
        return found
