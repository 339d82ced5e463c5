"""Loops and short branches: what nvcc unrolls, and which blocks it predicates instead of jumping around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from costs import BINARY, SSA, Names
from gimple import Function

PREDICATED = 7         # instructions of a branch's side up to which nvcc predicates it
MOST_ASKED = 1024     # rounds, that a pragma may ask for
COUNTED = 1 << 16      # rounds, up to which they are counted
FULL = 64, 1500        # rounds, and instructions in all of them, up to which a loop whose rounds are known is unrolled to its end


@dataclass
class Loop:
    header: int
    blocks: set[int]
    latches: list[int]
    inner: bool = True
    rounds: int = 0        # known ones, few enough for all of them to stand in the code; 0: only the run knows, or they are more
    counted: int = 0       # known ones, however many
    unroll: int = 1        # rounds that stand one after another in the code; 0: all
    asked: int | None = None  # by a pragma: so many rounds; 0: all of them
    reads_step: bool = False  # is its step a register on a GPU, though a number here?
    entry: int = 0         # instructions that prepare the unrolled loop: its rounds are counted by a division
    steady: set[str] = field(default_factory=set)  # values that advance by a constant every round


def dominators(function: Function) -> dict[int, set[int]]:
    numbers = list(function.blocks)
    before: dict[int, list[int]] = {n: [] for n in numbers}
    for n, block in function.blocks.items():
        for to in block.next:
            before[to].append(n)
    order, seen, stack = [], set(), [(numbers[0], iter(function.blocks[numbers[0]].next))]
    seen.add(numbers[0])
    while stack:
        n, rest = stack[-1]
        for to in rest:
            if to not in seen:
                seen.add(to)
                stack.append((to, iter(function.blocks[to].next)))
                break
        else:
            order.append(n)
            stack.pop()
    order.reverse()
    found = {order[0]: {order[0]}}
    changed = True
    while changed:
        changed = False
        for n in order[1:]:
            sets = [found[p] for p in before[n] if p in found]
            new = set.intersection(*sets) | {n} if sets else {n}
            if found.get(n) != new:
                found[n], changed = new, True
    return found


def loops(function: Function, dominating: dict[int, set[int]]) -> list[Loop]:
    before: dict[int, list[int]] = {n: [] for n in function.blocks}
    for n, block in function.blocks.items():
        for to in block.next:
            before[to].append(n)
    found: dict[int, Loop] = {}
    for n, block in function.blocks.items():
        for header in block.next:
            if header not in dominating.get(n, ()):
                continue
            loop = found.setdefault(header, Loop(header, {header}, []))
            loop.latches.append(n)
            todo = [n]
            while todo:
                one = todo.pop()
                if one not in loop.blocks:
                    loop.blocks.add(one)
                    todo += before[one]
    all_loops = sorted(found.values(), key=lambda loop: len(loop.blocks))
    for loop in all_loops:
        loop.inner = not any(other is not loop and other.header in loop.blocks for other in all_loops)
    return all_loops


class Definitions:
    """Where a function's SSA names come from."""

    def __init__(self, function: Function):
        self.block: dict[str, int] = {}
        self.text: dict[str, str] = {}
        self.phi: dict[str, dict[int, str]] = {}
        self.final: dict[str, tuple[str, int]] = {}  # what a loop's value is after it, where its rounds are known
        self.inside: dict[int, list[tuple[str, str]]] = {}  # of within(), by the loop's header
        self.beside: dict[str, tuple[str, int]] = {}  # a loop's value that is always so far from another one of the loop
        for n, block in function.blocks.items():
            for name, arguments in block.phis:
                self.block[name], self.phi[name] = n, arguments
            for statement in block.statements:
                to, equals, text = statement.text.partition(" = ")
                if equals and SSA.fullmatch(to):
                    self.block[to], self.text[to] = n, text.removesuffix(";")
                if "__asm__" in statement.text:  # a half is made or read
                    self.block |= dict.fromkeys(SSA.findall(statement.text)[:1], n)

    def within(self, loop: Loop) -> list[tuple[str, str]]:
        """(name, text) of what the loop's blocks define. Remembered: it is asked for again and again, and most of a function is in no loop."""
        if loop.header not in self.inside:
            self.inside[loop.header] = [(name, text) for name, text in self.text.items() if self.block[name] in loop.blocks]
        return self.inside[loop.header]

    def move(self, names: set[str], to: int) -> None:
        for name in names:
            self.block[name] = to
        self.inside.clear()

    def first(self, loop: Loop, phi: str) -> str | None:
        """A loop's value before its first round; None if there are several."""
        names = [name for block, name in self.phi[phi].items() if block not in loop.latches]
        return names[0] if len(names) == 1 else None

    def linear(self, name: str, depth: int = 12) -> tuple[str, int]:
        """(what it is counted from, how far): ("", 5) is the number 5, ("&a+x_3", 16) is &a + x_3 + 16."""
        if (number := number_of(name)) is not None:
            return "", number - 2**64 if number >= 2**63 else number - 2**32 if 2**31 <= number < 2**32 else number
        if name in self.final:
            return self.final[name]
        if name in self.beside:
            return self.beside[name]
        text = self.text.get(name, name)
        cast = re.match(r"^\([^()]*\) (\S+|&MEM.*)$", text)
        if depth and cast:
            return self.linear(cast[1], depth - 1)
        match = BINARY.match(text)
        if depth and match and match[2] == "+":
            (base, offset), (more, further) = self.linear(match[1], depth - 1), self.linear(match[3], depth - 1)
            return "+".join(sorted(filter(None, (base + "+" + more).split("+")))), offset + further
        factor = number_of(match[3]) if depth and match and match[2] in ("*", "w*") else None
        if factor is not None and factor > 0:
            base, offset = self.linear(match[1], depth - 1)
            return "+".join(sorted(times(factor, part) for part in base.split("+"))) if base else "", offset * factor
        if depth and match and match[2] == "-" and (number := number_of(match[3])) is not None:
            base, offset = self.linear(match[1], depth - 1)
            return base, offset - number
        part = re.match(r"^&MEM(?: <[^;=]*?>)? ?\[\([^()]*\)(&[\w.]+)(?: \+ (\d+)B)?\]$", text)  # &MEM <float[17]> [(void *)&a + 64B]
        if part:
            return part[1], int(part[2] or 0)
        return (text if text.startswith("&") else name), 0


def times(factor: int, part: str) -> str:
    """4 and "8*x_3": "32*x_3"."""
    before = re.match(r"(\d+)\*(.+)", part)
    return f"{factor * int(before[1])}*{before[2]}" if before else f"{factor}*{part}"


def number_of(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def apply(operator: str, a: int, b: int, bits: int) -> int | None:
    if operator in ("<<", ">>") and not 0 <= b < 64 or operator == "/" and b == 0:
        return None
    value = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: int(a / b), "<<": lambda: a << b, ">>": lambda: a >> b}.get(operator, lambda: None)()
    if value is None:
        return None
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def advance(loop: Loop, names: Names, definitions: Definitions, phi: str) -> tuple[str, str, int] | None:
    """(name after a round, operator, constant) of a value that a loop carries; None if it changes otherwise."""
    later = {name for block, name in definitions.phi[phi].items() if block in loop.latches}
    if len(later) != 1:
        return None
    after = later.pop()
    base, offset = definitions.linear(after)
    if base == phi:
        return after, "+", offset
    match = BINARY.match(definitions.text.get(after, ""))
    constant = number_of(match[3]) if match else None
    if constant is None or match[1] != phi:
        return None
    return after, match[2], constant


def find_beside(loop: Loop, names: Names, definitions: Definitions) -> None:
    """Two pointers that a loop carries at a fixed distance: g++ 13 walks a row of an array with one and ends it at the other."""
    ahead: dict[tuple[str, str, int], tuple[str, int]] = {}
    for phi in [name for name in definitions.phi if definitions.block[name] == loop.header]:
        step = advance(loop, names, definitions, phi)
        first = definitions.first(loop, phi)
        if not step or step[1] != "+" or not first:
            continue
        base, offset = definitions.linear(first)
        other, its_offset = ahead.setdefault((base, *step[1:]), (phi, offset))
        if base and other != phi:
            definitions.beside[phi] = other, offset - its_offset


def known_rounds(loop: Loop, names: Names, definitions: Definitions, conditions: dict[int, tuple[str, str, str]], next_of: dict[int, list[int]]) -> int:
    """How often a loop goes round if constants alone decide it."""
    for exit_block, (left, compare, right) in conditions.items():
        if exit_block not in loop.blocks or all(to in loop.blocks for to in next_of[exit_block]):
            continue
        stays_if = next_of[exit_block][0] in loop.blocks
        for a, b, mirrored in ((left, right, False), (right, left, True)):
            rounds = rounds_by(loop, names, definitions, a, {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(compare, compare) if mirrored else compare, b, stays_if)
            if rounds:
                return rounds + (exit_block in loop.latches)  # the body stands before the test or behind it
    return 0


def width(names: Names, name: str) -> int:
    """Bits of an integer: one of a byte begins anew at 256."""
    if names.is_wide(name):
        return 64
    declared = names.declaration(name)
    return 8 if re.search(r"\b(char|u?int8_t)\b", declared) else 16 if re.search(r"\b(short|u?int16_t)\b", declared) else 32


def rounds_by(loop: Loop, names: Names, definitions: Definitions, a: str, compare: str, b: str, stays_if: bool) -> int:
    base, limit = definitions.linear(b)
    for phi in (name for name in definitions.phi if definitions.block[name] == loop.header):
        step = advance(loop, names, definitions, phi)
        tested, ahead = definitions.linear(a)
        if step is None or not (tested == phi or a == step[0]):
            continue
        first = definitions.first(loop, phi)
        origin, value = definitions.linear(first) if first else ("?", 0)
        if origin != base:
            continue
        bits, rounds = width(names, phi), 0
        while rounds <= COUNTED:
            seen = apply(step[1], value, step[2], bits) if a == step[0] and step[1] != "+" else value + ahead
            if seen is None:
                return 0
            if bits < 64:
                lowest = 0 if bits < 32 and "unsigned" in names.declaration(phi) else -(1 << bits - 1)
                seen = (seen - lowest) % (1 << bits) + lowest
            true = {"<": seen < limit, ">": seen > limit, "<=": seen <= limit, ">=": seen >= limit, "==": seen == limit, "!=": seen != limit}.get(compare)
            if true is None or true != stays_if:
                break
            rounds += 1
            value = apply(step[1], value, step[2], bits)
            if value is None:
                return 0
        if 0 < rounds <= COUNTED:
            return rounds
    return 0


def predicated(function: Function, cost: dict[int, float], stops: set[int]) -> set[int]:
    """Blocks that end in a branch which nvcc does without: both sides are short and meet again."""
    before: dict[int, int] = {}
    for block in function.blocks.values():
        for to in block.next:
            before[to] = before.get(to, 0) + 1
    found: set[int] = set()
    again = True
    while again:
        again = False
        for n, block in function.blocks.items():
            if n in found or len(block.next) != 2:
                continue
            ends = [run(function, to, cost, stops, found, before) for to in block.next]
            for (blocks, spent, end), (others, other_spent, other_end) in (ends, ends[::-1]):
                # one side alone, or both, down to the same block
                if end is not None and (end == other_end or end == block.next[1 - block.next.index(blocks[0])] if blocks else end == other_end) \
                        and spent <= PREDICATED and (end != other_end or other_spent <= PREDICATED):
                    found.add(n)
                    again = True
                    break
    return found


def run(function: Function, start: int, cost: dict[int, float], stops: set[int], found: set[int], before: dict[int, int]) -> tuple[list[int], float, int | None]:
    """The blocks from here that only this way leads to, their instructions, and the block after them."""
    blocks: list[int] = []
    spent, at = 0.0, start
    while before.get(at, 0) == 1 and at not in stops and len(blocks) < 8:
        block = function.blocks[at]
        blocks.append(at)
        spent += cost[at]
        if len(block.next) == 1:
            at = block.next[0]
            continue
        if at in found and len(block.next) == 2:  # a short branch in a short branch
            inner = [run(function, to, cost, stops, found, before) for to in block.next]
            ends = {end for _, _, end in inner if end is not None} | {to for to in block.next if before.get(to, 0) > 1}
            for one, instructions, _ in inner:
                blocks += one
                spent += instructions
            joins = [end for end in ends if before.get(end, 0) > 1]
            if not joins:
                return blocks, spent, None
            at = joins[0]
            return blocks, spent, at
        return blocks, spent, None
    return blocks, spent, at if at not in stops or before.get(at, 0) > 1 else None
