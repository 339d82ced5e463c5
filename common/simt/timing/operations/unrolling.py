"""How many rounds of a loop nvcc places one after another. It decides how many loads a thread has in flight.

The rules are those that nvcc 13's output shows (test_unrolling.py has a kernel for each).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import fused
import steady
from costs import BINARY, SSA, Names
from gimple import Function
from loops import FULL, MOST_ASKED, Definitions, Loop, advance, find_beside, known_rounds
from pragmas import ALL

TINY = 9.5             # instructions of a round, without its addresses, up to which ptxas repeats nvcc's 4 rounds four times
UNSIGNED = re.compile(r"\b(unsigned|size_t|uint\d+_t|uintptr_t)\b")
NEST = 640             # of LLVM's instructions in all rounds of a loop around unrolled ones, up to which it is unrolled to its end, too
EARLY = 800, 2.5       # and of a loop around one: beyond that it is unrolled only after those around it were looked at. Until then an element of
                       # a thread's own array takes so many instructions more, as it is in memory
MOST = 200             # of LLVM's instructions in all rounds: beyond that nvcc takes 2 rounds instead of 4, or none


@dataclass
class Sizes:
    """cost: instructions by block; llvm: of each value, as LLVM counts them; own_elements: accesses to a thread's own arrays, by block."""

    cost: dict[int, float]
    llvm: dict[int, list[tuple[str, float]]]
    own_elements: dict[int, int]
    elsewhere: set[int]  # blocks that stand in another copy of the loop, with the other outcome of a test that no round changes

    def times(self, loop: Loop, inside: list[Loop], full: dict[int, int]) -> dict[int, int]:
        """How often each block stands in a round. inside: the loops in it; full: the rounds of those that are unrolled to their end, by header."""
        return {n: 0 if n in self.elsewhere else math.prod([full[other.header] for other in inside if n in other.blocks and other.header in full]) for n in loop.blocks}

    def fit(self, definitions: Definitions, loop: Loop, rounds: int, inside: list[Loop], full: dict[int, int], late: set[int]) -> bool:
        """Is a loop without a pragma short enough to be unrolled to its end? late: the headers of those that are so only after the loops
        around them were looked at; it is added to them if it is one."""
        times = self.times(loop, inside, full)
        whole = rounds * sum(self.cost[n] * times[n] for n in loop.blocks) <= FULL[1]
        if not inside:
            return whole
        gone = {"test", "phi"}.union(*(known_in(definitions, other) for other in inside))
        size = sum(count * times[n] for n in loop.blocks for name, count in self.llvm[n] if times[n] == 1 or name not in gone)
        elements = sum(self.own_elements.get(n, 0) * times[n] for n in loop.blocks)
        if elements and len(inside) == 1 and rounds * (size + EARLY[1] * elements) > EARLY[0]:
            late.add(loop.header)
            return whole
        return not any(other.header in late for other in inside) and rounds * (size - elements) <= NEST


def settle(function: Function, names: Names, definitions: Definitions, conditions: dict, sizes: Sizes, made: dict[int, list[tuple[str, float]]], stops: set[int], accesses: set[int], dominating: dict[int, set[int]], found: list[Loop], own: set[int]) -> None:
    """Decides for each loop what the compiler makes of it. made: instructions of each value, as a GPU has them. stops: blocks with what is not repeated in a round: a barrier, a call, inline PTX (as __ldg and its like are); accesses: blocks with one. own: the executor's, as of the loop by which it does an atomic."""
    next_of = {n: block.next for n, block in function.blocks.items()}
    full: dict[int, int] = {}
    late: set[int] = set()
    for loop in found:
        find_beside(loop, names, definitions)
    for loop in found:  # inner ones first
        inside = [other for other in found if other is not loop and other.header in loop.blocks]
        steps = {phi: advance(loop, names, definitions, phi) for phi in definitions.phi if definitions.block[phi] == loop.header}
        loop.steady = {phi for phi, step in steps.items() if step and step[1] in "+-"} | {step[0] for step in steps.values() if step and step[1] in "+-"}
        loop.counted = known_rounds(loop, names, definitions, conditions, next_of)
        loop.rounds = loop.counted if loop.counted <= (MOST_ASKED if loop.asked is not None else FULL[0]) else 0
        if loop.rounds:
            for phi, step in steps.items():
                first = definitions.first(loop, phi)
                if step and step[1] == "+" and first:
                    base, offset = definitions.linear(first)
                    definitions.final[phi] = base, offset + step[2] * loop.rounds
        times = sizes.times(loop, inside, full)
        decided = fused.decided(definitions, inside)
        folded = set().union(*(steady.values(definitions, other, names, decided) for other in inside if other.header in full))
        size = sum(count * times[n] for n in loop.blocks for name, count in sizes.llvm[n] if times[n] == 1 or name not in folded | {"test", "phi"})
        rounds = next((rounds for rounds in (4, 2) if rounds * size <= MOST), 1)
        still_rolled = [other for other in inside if other.header not in full and not other.blocks <= own]
        if loop.rounds and (not still_rolled or loop.asked is not None) and (loop.asked in (None, ALL) or loop.asked >= loop.rounds) and \
                (loop.asked is not None or sizes.fit(definitions, loop, loop.rounds, inside, full, late)):
            loop.unroll = 0
            full[loop.header] = loop.rounds
            continue
        exits = [n for n in loop.blocks if any(to not in loop.blocks for to in next_of[n])]
        if loop.counted and loop.asked is None and not still_rolled and len(exits) == 1 and (together := known_together(loop.counted, size)) > 4:
            loop.unroll = together
            continue
        if still_rolled or stops & loop.blocks or len(exits) != 1 or loop.asked == 1:
            continue
        if loop.asked:
            loop.unroll = loop.asked
            continue
        tested = conditions.get(exits[0])
        if not tested or rounds == 1:
            continue
        sides = [name for name in (tested[0], tested[2]) if uncast(definitions, name) in loop.steady]
        if sides and loop.reads_step:
            loop.unroll, loop.entry = rounds, 40
            continue
        if sides:
            offsets = folded | steady.values(definitions, loop, names, decided) | {"test"}
            each = sum(cost * times[n] for n in loop.blocks for name, cost in made[n] if name not in offsets)
            atomics = any(other.blocks <= own for other in inside)  # which ptxas does not repeat
            loop.unroll = 16 if rounds == 4 and each <= TINY and not atomics and is_repeated(loop, names, definitions, accesses, dominating, sides[0]) else rounds
            continue
        # A step that only the launch knows: nvcc counts the rounds by a division, but only of a signed number, which does not wrap.
        for name in (tested[0], tested[2]):
            phis = [phi for phi in steps if phi == name or name in definitions.phi[phi].values()]
            if any(may_be_zero(definitions, loop, phi) for phi in phis):
                continue
            if phis and "unsigned" not in names.declaration(phis[0]) and not names.is_wide(phis[0]) and carried_by_sum(definitions, loop, phis[0]):
                loop.unroll, loop.entry = rounds, 40


def known_together(counted: int, size: float) -> int:
    """Of rounds that are known and too many to unroll all of them: the largest power of two that leaves no rest."""
    together = 1
    while counted % (2 * together) == 0 and 2 * together * size <= MOST:
        together *= 2
    return together


def known_in(definitions: Definitions, loop: Loop) -> set[str]:
    """Values that nothing but the loop's counters decides: numbers, once it is unrolled."""
    found = set(loop.steady)
    within = definitions.within(loop)
    while more := {name for name, text in within if name not in found and
                   "[" not in text and SSA.findall(text) and found.issuperset(SSA.findall(text))}:
        found |= more
    return found


def is_repeated(loop: Loop, names: Names, definitions: Definitions, accesses: set[int], dominating: dict[int, set[int]],
                counter: str) -> bool:
    """Does ptxas repeat the four rounds, if they are short? Not of a pragma's, not where the count is unsigned or compared as such, where some rounds
    have an access and others have not, or where each round makes its addresses anew."""
    if loop.asked is not None or counter not in loop.steady or UNSIGNED.search(names.declaration(counter)):
        return False
    if any(n in loop.blocks and not all(n in dominating.get(latch, ()) for latch in loop.latches) for n in accesses):
        return False
    return not steady.widened(definitions, names, loop) & steady.reachable(definitions, loop)


def carried_by_sum(definitions: Definitions, loop: Loop, phi: str) -> bool:
    """Is it phi + something that the loop does not change? Not through an unsigned sum (c += blockDim.x), which may wrap."""
    for block, name in definitions.phi[phi].items():
        if block not in loop.latches:
            continue
        text = definitions.text.get(name, "")
        match = BINARY.match(text)
        if not match or match[2] not in "+-":
            return False
        for side in (match[1], match[3]):
            if definitions.block.get(side) in loop.blocks and side != phi and not is_cast_of(definitions, side, phi):
                return False
        return True
    return False


def may_be_zero(definitions: Definitions, loop: Loop, phi: str) -> bool:
    """Is the step a quotient (blockDim.x / 32), which nvcc takes for one that may be 0? Then it cannot count the rounds."""
    for block, name in definitions.phi[phi].items():
        match = BINARY.match(definitions.text.get(name, "")) if block in loop.latches else None
        for side in (match[1], match[3]) if match else ():
            for _ in range(4):
                cast = re.match(r"^\([^()]*\) (\S+)$", definitions.text.get(side, ""))
                side = cast[1] if cast else side
            quotient = BINARY.match(definitions.text.get(side, ""))
            if definitions.block.get(side) not in loop.blocks and quotient and quotient[2] in ("/", ">>"):
                return True
    return False


def uncast(definitions: Definitions, name: str) -> str:
    cast = re.match(r"^\([^()]*\) (\S+)$", definitions.text.get(name, ""))
    return cast[1] if cast else name


def is_cast_of(definitions: Definitions, name: str, phi: str) -> bool:
    match = re.match(r"^\([^()]*\) (\S+)$", definitions.text.get(name, ""))
    return bool(match) and match[1] == phi
