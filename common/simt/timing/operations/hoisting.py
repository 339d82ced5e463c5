"""Quotients that GCC leaves in a loop, as they might trap, though nothing in them changes: nvcc computes them before the loop, with all that follows
from them alone."""

from __future__ import annotations

import functools
import re

import loops as shapes
from costs import BINARY, SSA, Names
from gimple import Block
from remembered import KEPT
from steady import CAST, LITERAL


def before_loop(blocks: dict[int, Block], loop: shapes.Loop) -> int | None:
    """The only block that the loop is entered from."""
    entries = [n for n, block in blocks.items() if n not in loop.blocks and loop.header in block.next]
    return entries[0] if len(entries) == 1 else None


def unchanged(definitions: shapes.Definitions, names: Names, loop: shapes.Loop, dominating: dict[int, set[int]]) -> set[str]:
    found: set[str] = set()
    within = definitions.within(loop)
    grown = True
    while grown:
        grown = False
        for name, text in within:
            block = definitions.block[name]
            if name in found:
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
        definitions.move(moved, to)


DEREFERENCED = re.compile(r"^(?:\*|MEM\b)")
PURE = ("alu", "integer", "float", "convert", "mufu", "half", "double")
CHANGING = ("store", "load_store", "atomic", "barrier", "grid_barrier", "call", "syncwarp", "unknown")


@functools.lru_cache(KEPT)
def made_of(text: str, loads: bool) -> tuple[tuple[str, ...], bool]:
    """The values that it is made of, besides numbers: none, if it is no such operation; and whether nvcc moves it only where it
    is executed anyway. loads: may loads be moved?"""
    match, cast = BINARY.match(text), CAST.match(text)
    sides = (match[1], match[3]) if match else (cast[2],) if cast else ()
    loaded = bool(DEREFERENCED.match(text))
    if loaded:
        sides = SSA.findall(text) if loads else ()
    parts = tuple(side for side in sides if SSA.fullmatch(side))
    if not all(LITERAL.match(side) for side in sides if side not in parts):
        return (), False
    return parts, loaded or bool(match) and match[2] in "/%"


class Repeated:
    """What a loop computes or loads in each round anew, though the loops in it that are unrolled to their end alone change it: nvcc does it once, in the
    first round or before it. A load only where nothing in the loop may write to memory."""

    def __init__(self, table, loop: shapes.Loop):
        self.table, self.loop = table, loop
        self.definitions, self.names, self.dominating = table.definitions, table.names, table.dominating
        inner = [other for other in table.loops if other is not loop and other.header in loop.blocks]
        self.inner = inner
        self.exits = [n for n in loop.blocks if any(to not in loop.blocks for to in table.function.blocks[n].next)]
        kinds = {one[0].kind for n in loop.blocks for one in table.blocks[n]}
        volatile = any("volatile" in statement.text for n in loop.blocks for statement in table.function.blocks[n].statements)
        never = set(CHANGING[3:] if not table.ordered else CHANGING)
        self.loads = not kinds & never and not volatile
        self.written = {table.elements.variable(value) for n in loop.blocks for one in table.blocks[n] for value in one[1]} - {None}
        # What a loop that is unrolled to its end carries, unless it is made of something else.
        carried = {name for name, sources in self.definitions.phi.items() if any(other.unroll == 0 and self.definitions.block[name] == other.header for other in inner)}
        self.found: set[str] = set()
        within = self.definitions.within(loop)
        while True:
            self.found = set(carried)
            grown = True
            while grown:
                more = {name for name, text in within if name not in self.found and self.is_one(name, text)}
                self.found |= more
                grown = bool(more)
            changed = {name for name in carried if not all(self.is_outside(source) for source in self.definitions.phi[name].values())}
            if not changed:
                break
            carried -= changed

    def is_outside(self, name: str) -> bool:
        return name in self.found or self.definitions.block.get(name) not in self.loop.blocks

    def each_round(self, n: int) -> bool:
        """Is a block surely executed in each round?"""
        at = n
        for loop in (*(other for other in self.inner if n in other.blocks), self.loop):  # inner ones first
            if not all(at in self.dominating.get(latch, ()) for latch in loop.latches):
                return False
            at = loop.header if loop.unroll == 0 else n
        return not any(e in self.dominating[n] and e not in (n, self.loop.header) for e in self.exits)

    def is_one(self, name: str, text: str) -> bool:
        parts, rare = made_of(text, self.loads)
        if self.written and self.table.elements.variable(self.table.elements.of(text, self.definitions.block[name])) in self.written:
            return False  # of an array of the thread's own
        if not parts or not all(self.is_outside(part) for part in parts):
            return False
        return not (rare or self.loop.unroll == 0) or self.each_round(self.definitions.block[name])

    def is_repeated(self, operation: tuple, n: int) -> bool:
        cost, _, _, _, name = operation
        if cost.kind == "load" and name.startswith("at "):
            parts = SSA.findall(name[3:])
            return self.loads and bool(parts) and self.each_round(n) and all(self.is_outside(part) for part in parts)
        return cost.kind in PURE and name in self.found


def repeated(table) -> tuple[dict[int, list[tuple[int, ...]]], dict[int, tuple[int, ...]]]:
    """By block, of each operation: the headers of the loops that do not change it. By offset, of loads among them: the value
    that the round before stored there (forwarded())."""
    found = {n: [()] * len(operations) for n, operations in table.blocks.items()}
    stored: dict[int, tuple[int, ...]] = {}
    for loop in table.loops:
        one = Repeated(table, loop)
        kept = forwarded(table, loop, one)
        stored |= kept
        for n in loop.blocks:
            for at, operation in enumerate(table.blocks[n]):
                if one.is_repeated(operation, n) or operation[3] in kept:
                    found[n][at] += (loop.header,)
    return found, stored


MEMBER = re.compile(r"^&\(?(\w+)->[\w.]+$")


def base_of(table, address: str) -> str:
    """Of members of one struct the pointer to it: they are apart."""
    member = MEMBER.match(table.definitions.text.get(address, ""))
    return member[1] if member else address


def forwarded(table, loop: shapes.Loop, one: Repeated) -> dict[int, tuple[int, ...]]:
    """A sum in memory (`c[i] += a[k] * b[k]`): nvcc knows what the round before stored there, and loads only before the loop, if
    all that the loop stores goes to one place, or to members of one struct. By offset of such loads: the value stored."""
    operations = [(n, operation) for n in loop.blocks for operation in table.blocks[n]]
    if any(operation[0].kind in ("load_store", *CHANGING[2:]) for _, operation in operations):
        return {}
    if any("volatile" in statement.text for n in loop.blocks for statement in table.function.blocks[n].statements):
        return {}
    stores: dict[str, int] = {}  # offset, by address
    for n, (cost, _, _, offset, name) in operations:
        if cost.kind == "store":
            address = name.removeprefix("at ")
            if address in stores or not SSA.fullmatch(address) or not one.is_outside(base_of(table, address)) or not one.each_round(n):
                return {}
            stores[address] = offset
    if len({base_of(table, address) for address in stores}) != 1:
        return {}
    return {offset: table.stored[stores[name.removeprefix("at ")]] for n, (cost, _, _, offset, name) in operations
            if cost.kind == "load" and offset >= 0 and name.removeprefix("at ") in stores and one.each_round(n)}
