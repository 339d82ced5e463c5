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

FIRST = 1 << 24  # numbers of elements, beside those of values
MOST_WORDS = 256
BY_ADDRESS = re.compile(rf"^(?:\*|MEM(?: <[^;=]*?>)? ?\[\(([^()]*)\))({costs.NAME})(?: \+ (-?\d+)B)?\]?$")
BY_INDEX = re.compile(rf"^{costs.VARIABLE}\[(\d+|{costs.NAME})\]$")
BYTES = {"char": 1, "bool": 1, "short": 2, "half": 2, "bfloat16": 2, "double": 8, "long": 8, "int64_t": 8, "uint64_t": 8, "half4": 8, "float2": 8, "int2": 8, "uint2": 8, "float4": 16, "int4": 16, "uint4": 16}


@dataclass
class Element:
    variable: str                 # or a struct's member, by its path
    offset: int                   # bytes, in the first round of all loops
    bytes: int
    steps: tuple[tuple[int, int], ...]  # of loops, by header: bytes a round


def bytes_of(type_text: str) -> int:
    return next((BYTES[word] for word in re.findall(r"\w+", type_text.replace("__nv_", "").replace("__", "")) if word in BYTES), 4)


class Elements:
    def __init__(self, function: Function, names: Names, definitions: Definitions, loops: list[Loop]):
        self.names, self.definitions, self.loops = names, definitions, loops
        self.variable_at = local_arrays.pointed_at(function, names)
        self.by_address = set(self.variable_at.values())
        self.found: list[Element] = []
        self.number: dict[tuple[str, int], int] = {}

    def of(self, text: str, wide: int = 0) -> int | None:
        """The number of what an expression reads or writes by address; None if that is no variable of the thread's own. wide: its bytes, if known."""
        match, index = BY_ADDRESS.match(text), BY_INDEX.match(text)
        if match and match[2] in self.variable_at:
            wide = wide or bytes_of(match[1] or self.names.declaration(match[2]))
        elif index and index[1] in self.by_address:
            wide = wide or bytes_of(self.names.declaration(index[1]))
        else:
            return None
        key = (text, wide)
        if key not in self.number:
            place = self.place(match[2], int(match[3] or 0)) if match else self.place_of_index(index[1], index[2], wide)
            self.number[key] = FIRST + len(self.found)
            self.found.append(Element(place[0], place[1], wide, place[2]) if place else Element("", 0, wide, ()))
        return self.number[key]

    def variable(self, number: int | None) -> str | None:
        """Whose element it is; None if the number is a value's."""
        return self.found[number - FIRST].variable if number is not None and number >= FIRST else None

    def place_of_index(self, variable: str, index: str, wide: int) -> tuple[str, int, tuple[tuple[int, int], ...]] | None:
        place = self.place(index) if not index.isdigit() else ("", int(index), ())
        return place and (variable, place[1] * wide, tuple((header, step * wide) for header, step in place[2]))

    def place(self, name: str, more: int = 0, depth: int = 6) -> tuple[str, int, tuple[tuple[int, int], ...]] | None:
        """(variable, offset, steps) of an address; None if it is not counted by loops alone."""
        base, offset = self.definitions.linear(name)
        variable, steps = "", {}
        for part in filter(None, base.split("+")):
            factor, _, counted = part.rpartition("*") if not part.startswith("&") else ("", "", part)
            times = int(factor or 1)
            if counted.startswith("&"):
                variable = counted[1:]
                continue
            loop = next((loop for loop in self.loops if counted in self.definitions.phi and self.definitions.block[counted] == loop.header), None)
            step = loop and advance(loop, self.names, self.definitions, counted)
            first = loop and self.definitions.first(loop, counted)
            if not depth or not step or step[1] != "+" or not first:
                return None
            begin = ("", int(first), ()) if re.fullmatch(r"-?\d+", first) else self.place(first, 0, depth - 1)
            if begin is None or (begin[0] and (variable or times != 1)):
                return None
            variable = variable or begin[0]
            offset += times * begin[1]
            for header, each in (*begin[2], (loop.header, step[2])):
                steps[header] = steps.get(header, 0) + times * each
        return variable, offset + more, tuple(sorted(steps.items()))

    def lines(self, values: int) -> list[str]:
        """For the table. Elements whose place only a run knows have none: nobody waits for them. values: how many numbers are taken."""
        unrolled = {loop.header for loop in self.loops if loop.unroll == 0}
        begins: dict[str, int] = {}
        lines = []
        for index, one in enumerate(self.found):
            if one.variable and unrolled.issuperset(header for header, _ in one.steps):
                begin = begins.setdefault(one.variable, values + MOST_WORDS * len(begins))
                lines.append(f"m {index} {begin} {MOST_WORDS} {one.offset} {one.bytes} {' '.join(f'{header}:{step}' for header, step in one.steps)}".rstrip())
        return lines
