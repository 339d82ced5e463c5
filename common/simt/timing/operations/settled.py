"""Tests that come out the same in all rounds of a loop and for all threads of a block: nvcc makes a loop for each outcome, so that no round tests or jumps."""

from __future__ import annotations

import re

import loops as shapes
from costs import BINARY, SSA
from steady import CAST, LITERAL

OF_BLOCK = re.compile(r"^(?:blockIdx|blockDim|gridDim)\.[xyz]$")
OF_THREAD = re.compile(r"^threadIdx\.[xyz]$")
TOGETHER = ("barrier", "grid_barrier", "call", "shuffle", "vote", "match", "reduce", "syncwarp", "active")  # what LLVM leaves where it is


MOST = 140  # of LLVM's instructions in a round, up to which it has a loop for each outcome


class Settled:
    def __init__(self, table, llvm: dict[int, list[tuple[str, float]]]):
        """llvm: of each block, as LLVM counts it."""
        self.definitions, self.function, self.dominating = table.definitions, table.function, table.dominating
        self.before: dict[int, list[int]] = {}
        for n, block in self.function.blocks.items():
            for to in block.next:
                self.before.setdefault(to, []).append(n)
        size = {n: sum(count for _, count in values) for n, values in llvm.items()}
        self.tests: dict[int, list[shapes.Loop]] = {}  # the loops that do not change a block's test, inner ones first
        for n in sorted(table.conditions, key=lambda n: len(self.dominating.get(n, ()))):  # outer ones first
            a, _, b = table.conditions[n]
            sides = [side for side in (a, b) if SSA.fullmatch(side)]
            if not sides or n in table.own_tests | table.transparent or len(self.function.blocks[n].next) != 2 or not all(self.is_one_for_all(side) for side in sides):
                continue
            others = {m for earlier in self.tests for side in self.sides(earlier) if n not in side and n in set().union(*self.sides(earlier)) for m in side}
            around = [loop for loop in table.loops if n in loop.blocks and all(self.is_settled(side, loop) for side in sides) and not self.together(table, loop)
                      and sum(size[m] for m in loop.blocks - others) <= MOST]
            if around:
                self.tests[n] = around

    def sides(self, n: int) -> list[set[int]]:
        """The blocks that only one outcome of a block's test leads to, for both."""
        return [{m for m, over in self.dominating.items() if to in over} if self.before[to] == [n] else set() for to in self.function.blocks[n].next]

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
        for n in sorted(self.tests, key=lambda n: len(set().union(*self.sides(n)))):  # inner ones first
            within = set.intersection(*(loop.blocks for loop in self.tests[n]))
            found |= min((side & within for side in self.sides(n)), key=lambda side: sum(cost[m] for m in side - found))
        return found
