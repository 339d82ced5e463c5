"""Elements of a thread's own arrays that are found by address. g++ counts addresses where the source has indices; once the loops are unrolled to
their end, as nvcc does it, each round has elements of its own, in registers. Which one it is follows from the rounds that the loops are in."""

from __future__ import annotations

import re
from dataclasses import dataclass

import costs
import local_arrays
from costs import SSA, Names
from gimple import Function
from loops import Definitions, Loop, advance

Place = tuple[str, int, dict[int, int]]  # a variable, or a struct's member by its path; bytes in the first round of all loops; bytes a round, by header
FIRST = 1 << 24  # numbers of elements, beside those of values
MOST_WORDS = 256
BY_ADDRESS = re.compile(rf"^(?:\*|MEM(?: <[^;=]*?>)? ?\[\(([^()]*)\))({costs.NAME})(?: \+ (-?\d+)B)?\]?$")
BY_INDEX = re.compile(rf"^{costs.VARIABLE}\[(\d+|{costs.NAME})\]$")
BYTES = {"char": 1, "bool": 1, "short": 2, "half": 2, "bfloat16": 2, "double": 8, "long": 8, "int64_t": 8, "uint64_t": 8, "half4": 8, "float2": 8, "int2": 8, "uint2": 8, "float4": 16, "int4": 16, "uint4": 16}


@dataclass
class Element:
    root: str      # the variable
    address: str   # by which it is found; "": by its index
    index: str
    more: int      # bytes, beside that
    bytes: int
    block: int


def bytes_of(type_text: str) -> int:
    return next((BYTES[word] for word in re.findall(r"\w+", type_text.replace("__nv_", "").replace("__", "")) if word in BYTES), 4)


class Elements:
    def __init__(self, function: Function, names: Names, definitions: Definitions, loops: list[Loop]):
        self.names, self.definitions, self.loops = names, definitions, loops
        self.variable_at = local_arrays.pointed_at(function, names)
        self.by_address = set(self.variable_at.values())
        self.found: list[Element] = []
        self.number: dict[tuple[str, int], int] = {}

    def of(self, text: str, block: int, wide: int = 0) -> int | None:
        """The number of what an expression in a block reads or writes; None if that is no variable of the thread's own whose elements are found by
        address. wide: its bytes, if known."""
        match, index = BY_ADDRESS.match(text), BY_INDEX.match(text)
        if match and match[2] in self.variable_at:
            wide = wide or bytes_of(match[1] or self.names.declaration(match[2]))
            one = Element(self.variable_at[match[2]], match[2], "", int(match[3] or 0), wide, block)
        elif index and index[1] in self.by_address:
            wide = wide or bytes_of(self.names.declaration(index[1]))
            one = Element(index[1], "", index[2], 0, wide, block)
        else:
            return None
        if (text, wide) not in self.number:
            self.number[text, wide] = FIRST + len(self.found)
            self.found.append(one)
        return self.number[text, wide]

    def variable(self, number: int | None) -> str | None:
        """Whose element it is; None if the number is a value's."""
        return self.found[number - FIRST].root if number is not None and number >= FIRST else None

    def place_of(self, one: Element) -> Place | None:
        if one.address:
            place = self.place(one.address, one.block)
            return place and (place[0], place[1] + one.more, place[2])
        place = self.place(one.index, one.block) if not one.index.isdigit() else ("", int(one.index), {})
        return place and (one.root, place[1] * one.bytes, {header: step * one.bytes for header, step in place[2].items()})

    def place(self, name: str, block: int, depth: int = 6) -> Place | None:
        """Of an address, or a number, in a block; None if it is not counted by loops alone."""
        variable, steps = "", {}
        base, offset = self.without_final({loop.header for loop in self.loops if block in loop.blocks}, lambda: self.definitions.linear(name))
        for part in filter(None, base.split("+")):
            factor, _, counted = part.rpartition("*") if not part.startswith("&") else ("", "", part)
            times = int(factor or 1)
            if counted.startswith("&"):
                variable = counted[1:]
                continue
            loop = next((loop for loop in self.loops if counted in self.definitions.phi and self.definitions.block[counted] == loop.header), None)
            step = loop and self.without_final({loop.header}, lambda: advance(loop, self.names, self.definitions, counted))
            first = loop and self.definitions.first(loop, counted)
            if not depth or not step or step[1] != "+" or not first:
                return None
            before = next(n for n, source in self.definitions.phi[counted].items() if source == first)
            begin = ("", int(first), {}) if re.fullmatch(r"-?\d+", first) else self.place(first, before, depth - 1)
            if begin is None or (begin[0] and (variable or times != 1)):
                return None
            variable = variable or begin[0]
            offset += times * begin[1]
            for header, each in (*begin[2].items(), (loop.header, step[2])):
                steps[header] = steps.get(header, 0) + times * each
        return variable, offset, steps

    def without_final(self, headers: set[int], ask):
        """An answer about values in loops: what loops carry is there another one than after them."""
        final = self.definitions.final
        kept = {name: final.pop(name) for name in list(final) if self.definitions.block.get(name) in headers}
        try:
            return ask()
        finally:
            final |= kept

    def lines(self, values: int) -> list[str]:
        """For the table, once it is known which loops are unrolled. Elements whose place only a run knows have none: nobody waits for them.
        values: how many numbers are taken."""
        unrolled = {loop.header for loop in self.loops if loop.unroll == 0}
        begins: dict[str, int] = {}
        lines = []
        for index, one in enumerate(self.found):
            place = self.place_of(one)
            if place and place[0] and unrolled.issuperset(place[2]):
                begin = begins.setdefault(place[0], values + MOST_WORDS * len(begins))
                steps = "".join(f" {header}:{step}" for header, step in sorted(place[2].items()))
                lines.append(f"m {index} {begin} {MOST_WORDS} {place[1]} {one.bytes}{steps}")
        return lines
