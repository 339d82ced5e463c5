"""Which loads of shared memory nvcc can join: it leaves out one whose value it has, and makes one wide load of neighbouring ones.

It needs to know two things when it compiles. That no other code comes between: the loads stand in one piece of straight code, or in
a loop that is unrolled. And how the addresses lie to each other: what an address is made of, apart from constants and the
counters of such loops, is a multiple of 8 or 16 bytes, so that a wide load can begin there.
"""

from __future__ import annotations

import re

from costs import BINARY, SSA, TERNARY
from loops import Definitions, Loop, advance, known_rounds, number_of
from pragmas import ALL
from remembered import Remembered

MOST = 16        # bytes of a lane that one instruction loads
ANY = 1 << 20    # a multiple of whatever is asked: nothing but constants and counters
PARTS = 4        # rounds that nvcc itself lets stand together, where ptxas repeats them (Loop.unroll is 16)
CAST = Remembered(r"^\(([^()]*)\) (\S+|&.+)$")
POSITION = re.compile(r"^(?:threadIdx|blockIdx|blockDim|gridDim)\.[xyz]$")
BASE = re.compile(r"^&?(?:MEM(?: <[^;=]*?>)? ?\[\([^()]*\)(&?[\w.$]+(?:\(D\))?)(?: \+ (\d+)B)?\]|\*?([A-Za-z_][\w.$]*|_\d+(?:\(D\))?))(.*)$")
STEP = re.compile(r"\[([^\]]*)\]|(?:\.|->)([A-Za-z_]\w*)")
STEPS = re.compile(rf"(?:{STEP.pattern})*")
DECLARATION = re.compile(r"^(?:static |const |volatile |struct |unsigned |signed )*([\w:]+)(?: int)? \S*?((?:\[\d+\])*);$")
BYTES = {"char": 1, "bool": 1, "uint8_t": 1, "int8_t": 1, "short": 2, "half": 2, "__half": 2, "uint16_t": 2, "int16_t": 2, "__nv_bfloat16": 2, "bfloat16": 2,
         "int": 4, "float": 4, "uint32_t": 4, "int32_t": 4, "half2": 4, "__half2": 4, "double": 8, "long": 8, "uint64_t": 8, "int64_t": 8, "size_t": 8,
         "float2": 8, "int2": 8, "uint2": 8, "float4": 16, "int4": 16, "uint4": 16, "double2": 16}


def power(number: int) -> int:
    """The largest power of two that divides it."""
    return ANY if number == 0 else min(ANY, abs(number) & -abs(number))


class Pointers(Definitions):
    """As Definitions, and where a pointer into an array counts from."""

    def linear(self, name: str, depth: int = 12) -> tuple[str, int]:
        cast = re.match(r"^\([^()]*\) (&MEM.+)$", self.text.get(name, ""))
        return super().linear(cast[1] if cast else name, depth)


def unrolled(table) -> set[int]:
    """The headers of loops that are unrolled to their end: the model of a GPU's time does not follow pointers, which g++ counts some
    loops by."""
    definitions = Pointers(table.function)
    next_of = {n: block.next for n, block in table.function.blocks.items()}
    found: dict[int, int] = {}
    late: set[int] = set()
    for loop in table.loops:  # inner ones first
        inside = [other for other in table.loops if other is not loop and other.header in loop.blocks]
        rounds = loop.rounds or known_rounds(loop, table.names, definitions, table.conditions, next_of)
        if loop.unroll == 0:
            if loop.asked is None:  # only to learn whether it is late
                table.sizes.fit(definitions, loop, rounds, inside, found, late)
            found[loop.header] = rounds
        elif rounds and loop.asked in (None, ALL) and all(other.header in found for other in inside) and \
                (loop.asked == ALL or table.sizes.fit(definitions, loop, rounds, inside, found, late)):
            found[loop.header] = rounds
    return set(found)


class Addresses:
    """What a function's addresses are made of."""

    def __init__(self, definitions: Definitions, names, found: list[Loop], whole: set[int]):
        self.definitions, self.names, self.whole = definitions, names, whole
        self.by_header = {loop.header: loop for loop in found}
        self.known: dict[tuple[str, bool], int] = {}

    def multiple(self, name: str, whole: bool = False) -> int:
        """A power of two: the value is a multiple of it, apart from constants and counters, or as a `whole`."""
        number = number_of(name)
        if number is not None:
            return power(number) if whole else ANY
        if not SSA.fullmatch(name):
            return self.of_place(name, whole)
        if (name, whole) not in self.known:
            self.known[name, whole] = ANY  # of a value that is made of itself the rest decides
            for _ in range(4):
                before, self.known[name, whole] = self.known[name, whole], self.of_value(name, whole)
                if before == self.known[name, whole]:
                    break
        return self.known[name, whole]

    def of_value(self, name: str, whole: bool) -> int:
        if name in self.definitions.phi:
            return self.of_phi(name, whole)
        text = self.definitions.text.get(name)
        if text is None:
            return 1
        cast, binary, chosen = CAST.match(text), BINARY.match(text), TERNARY.match(text)
        if cast:
            return self.multiple(cast[2], whole)
        if chosen:
            return min(self.multiple(chosen[2], True), self.multiple(chosen[3], True))
        if binary:
            return self.of_binary(binary[1], binary[2], binary[3], whole)
        if text.startswith("&"):
            return self.of_place(text, whole)
        return 1

    def bits(self, name: str) -> int | None:
        """Which bits of a value can be set; None if that is not known."""
        text = self.definitions.text.get(name, "")
        cast, binary = CAST.match(text), BINARY.match(text)
        if cast:
            return self.bits(cast[2])
        number = number_of(binary[3]) if binary else None
        if number is None or number < 0:
            return None
        if binary[2] == "&":
            return number
        if binary[2] == "%":
            return number - 1 if power(number) == number else None
        factor = number if binary[2] in ("*", "w*") else 1 << number if binary[2] == "<<" and number < 32 else 0
        inside = self.bits(binary[1]) if factor and power(factor) == factor else None
        return None if inside is None else inside * factor

    def is_exclusive_or(self, number: int | None, b: str) -> bool:
        """nvcc makes `63 - x` into `63 ^ x` where x has no other bits. Then 62 - x is no neighbour that it knows of."""
        found = self.bits(b) if number is not None and number >= 0 else None
        return found is not None and found & ~number == 0

    def of_binary(self, a: str, operator: str, b: str, whole: bool) -> int:
        number = number_of(b)
        if operator == "-" and self.is_exclusive_or(number_of(a), b):
            return 1
        if operator in "+-":
            return min(self.multiple(a, whole), self.multiple(b, whole))
        if operator in ("*", "w*"):
            if number is not None:
                return min(ANY, self.multiple(a, whole) * power(number))
            return max(self.multiple(a, True), self.multiple(b, True))
        if operator == "<<" and number is not None:
            return min(ANY, self.multiple(a, whole) << number)
        if operator == "&" and number is not None:
            low = number >= 0 and number & (number + 1) == 0
            return max(power(number), self.multiple(a, whole) if low else 1)
        if operator == "%" and number is not None and power(number) == abs(number):
            return self.multiple(a, whole)
        return 1

    def of_phi(self, name: str, whole: bool) -> int:
        sources = self.definitions.phi[name]
        loop = self.by_header.get(self.definitions.block[name])
        if loop is None:
            return min(self.multiple(source, True) for source in sources.values())
        first = min(self.multiple(source, whole) for block, source in sources.items() if block not in loop.latches)
        step = advance(loop, self.names, self.definitions, name)
        if step and loop.header in self.whole and not whole and (step[1] == "+" or first == ANY):
            return first
        if step and step[1] == "+":
            together = 1 if whole or loop.header in self.whole else PARTS if loop.unroll == 16 else loop.unroll
            return min(first, power(step[2] * together))
        return min(first, *(self.multiple(source, True) for block, source in sources.items() if block in loop.latches))

    def of_place(self, text: str, whole: bool, bytes: int = 1) -> int:
        """Of `&a[i_1][3].x`, `threadIdx.x` and their like. bytes: of an element whose type says nothing of it, as far as is known."""
        if POSITION.match(text):
            return 1
        match = BASE.match(text)
        if not match or not text.startswith("&") and not SSA.fullmatch(text):
            return 1
        base, rest = (match[1] or match[3]), match[4]
        steps = STEP.findall(rest)
        if not STEPS.fullmatch(rest):
            return 1
        symbol = base.removeprefix("&")
        found = self.multiple(base, whole) if SSA.fullmatch(symbol) else MOST
        indices = [index for index, _ in steps if index]
        if not indices:
            return found
        declared = DECLARATION.match(self.names.variables.get(symbol, ""))
        if match[1] or not declared:
            return 1
        lengths = [int(length) for length in re.findall(r"\d+", declared[2])]
        size = BYTES.get(declared[1], bytes)
        for length, index in list(zip(lengths, indices))[::-1] if len(indices) == len(lengths) else [(0, "")]:
            if not index:
                return 1
            found = min(found, min(ANY, self.multiple(index, whole) * power(size)))
            size *= length
        return found

    def loaded_in(self, name: str) -> set[int]:
        """The blocks of the loads, calls and the like that a value comes from."""
        found, seen, todo = set(), {name}, [name]
        while todo:
            one = todo.pop()
            text = self.definitions.text.get(one)
            if one in self.definitions.phi:
                parts = list(self.definitions.phi[one].values())
            elif text is None or POSITION.match(text):
                continue
            else:
                parts = SSA.findall(text)
                if not text.startswith("&") and not any(form.match(text) for form in (CAST, BINARY, TERNARY)):
                    found.add(self.definitions.block[one])
            new = {part for part in parts if SSA.fullmatch(part)} - seen
            seen |= new
            todo += new
        return found


def regions(table, whole: set[int]) -> dict[int, tuple[str, int, int]]:
    """By block: what its loads can be joined with. A region is straight code, ("e", its first block, 0), to which also belong the loops
    that are unrolled to their end, ("f", the same block, 0); or the rounds of a loop that stand together, ("p", its header, so many)."""
    before: dict[int, list[int]] = {n: [] for n in table.function.blocks}
    for n, block in table.function.blocks.items():
        for to in block.next:
            before[to].append(n)
    by_header = {loop.header: loop for loop in table.loops}
    first = {n: n for n in table.function.blocks}

    def root(n: int) -> int:
        while first[n] != n:
            n = first[n]
        return n

    def unite(a: int, b: int) -> None:
        low, high = sorted((root(a), root(b)))
        first[high] = low

    found = {}
    for n in table.function.blocks:
        found[n] = ("e", n, 0)
        at = n
        for loop in (loop for loop in table.loops if n in loop.blocks):  # inner ones first
            if not all(at in table.dominating.get(latch, ()) for latch in loop.latches):
                break
            if loop.header not in whole:
                if loop.unroll > 1:
                    found[n] = ("p", loop.header, PARTS if loop.unroll == 16 else loop.unroll)
                break
            found[n] = ("f", loop.header, 0)
            unite(n, loop.header)
            at = loop.header
    for n, block in table.function.blocks.items():
        for to in block.next:
            into, out_of = by_header.get(to), by_header.get(n)
            if into and (to not in whole or n in into.blocks) or out_of and (n not in whole or to in out_of.blocks):
                continue
            free = n in table.transparent or n in table.own_tests or to in table.transparent
            if free or (len(set(block.next)) == 1 or out_of) and ([one for one in before[to] if not into or one not in into.blocks] == [n]):
                unite(n, to)
    return {n: (kind, number if kind == "p" else root(n), rounds) for n, (kind, number, rounds) in found.items()}


def lines_of(table) -> list[str]:
    """j OFFSET MULTIPLE KIND NUMBER ROUNDS, for every load that may be joined with another one, or with itself in another round; and
    q HEADER NUMBER, for every loop that is unrolled to its end: the region that it belongs to."""
    whole = unrolled(table)
    addresses = Addresses(table.definitions, table.names, table.loops, whole)
    where = regions(table, whole)
    of_region: dict[int, list[tuple[str, bool, str]]] = {}
    for n, operations in table.blocks.items():
        for cost, _, _, offset, name in operations:
            if cost.kind != "load" or offset < 0 or not name.startswith("at "):
                continue
            address = name[3:]
            kind, number, rounds = where[n]
            if kind != "e":
                inside = set().union(*(loop.blocks for loop in table.loops if loop.header == number or kind == "f" and loop.header in whole and n in loop.blocks and where[loop.header][1] == number))
                if any(block in inside for part in SSA.findall(address) for block in addresses.loaded_in(part)):
                    continue
            elif re.fullmatch(r"&[A-Za-z_][\w.$]*", address):
                kind = "s"  # the same one always
            element = table.in_pieces.get(offset, 1)
            place = table.definitions.text.get(address, address)
            multiple = addresses.of_place(place, False, element) if place.startswith("&") and place.endswith("]") else addresses.multiple(address)
            of_region.setdefault(number, []).append((kind, element > 1, f"j {offset} {min(MOST, multiple)} {kind} {number} {rounds}"))
    lines = [line for found in of_region.values() if len(found) > 1 or found[0][0] in "fp" or found[0][1] for _, _, line in found]
    return lines + [f"q {loop.header} {where[loop.header][1]}" for loop in table.loops if loop.header in whole] if lines else []
