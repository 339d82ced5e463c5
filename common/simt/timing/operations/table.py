"""Puts a function's blocks, values, operations and loops into the lines of the table (../operations.h)."""

from __future__ import annotations

import re

import addresses
import announced
import atomics
import bits_counted
import chosen
import constructors
import costs
import doubles
import elements
import fused
import hoisting
import hooks
import joined_loads
import llvm
import local_arrays
import loops as shapes
import numbers_in_rounds
import pragmas
import settled
import steady
import unrolling
import waiting
from costs import CALL, HOOK, MARKER, SSA, VARIABLE, WARP_CALLS, Cost, Names, is_own
from gimple import Function, Statement, short_name
from values import Values

TENSOR_CORES = ("simt/include/mma.h", "simt/include/simt/mma.h")
ACCESSES = ("load", "store", "load_store", "atomic")
IF = re.compile(r"^if \((\S+) (<|>|<=|>=|==|!=) (.+)\)$")
BUILT_IN = re.compile(r"^&(?:blockDim|gridDim|threadIdx|blockIdx)\b")
PART = re.compile(r" = (?:IMAG|REAL)PART_EXPR <(\S+)>;$")
LETTERS = {"alu": "a", "integer": "i", "float": "F", "convert": "v", "mufu": "m", "half": "h", "double": "d", "load": "l", "store": "s", "load_store": "L", "atomic": "x", "shuffle": "w", "vote": "o", "match": "t",
           "reduce": "r", "syncwarp": "y", "barrier": "b", "grid_barrier": "g", "call": "c", "copy": "=", "active": "o", "unknown": "?"}


def is_of_thread(names: Names, argument: str) -> bool:
    """Plainly the address of a local variable, or of threadIdx and the like."""
    direct = re.match(rf"^&{VARIABLE}", argument)
    if not direct:
        return False
    return bool(BUILT_IN.match(argument)) or direct[1] in names.variables and "static" not in names.variables[direct[1]]


def numbers(values) -> str:
    return ",".join(str(value) if value < elements.FIRST else f"e{value - elements.FIRST}" for value in values) or "-"


class FunctionTable:
    def __init__(self, function: Function, calls: list[tuple[int, str]], known: set[str]):
        self.function, self.names = function, Names(function)
        self.values = Values(function, self.names)
        self.definitions = shapes.Definitions(function)
        self.known = known  # names of the file's functions
        self.calls = calls
        self.dominating = shapes.dominators(function)
        self.loops = shapes.loops(function, self.dominating)
        self.elements = elements.Elements(function, self.names, self.definitions, self.loops)
        self.blocks: dict[int, list[tuple[Cost, tuple, tuple, int, str]]] = {}  # operations: cost, writes, reads, offset, name written
        self.offset: dict[int, int] = {}
        self.more: dict[int, list[int]] = {}
        self.conditions: dict[int, tuple[str, str, str]] = {}
        self.tested_at: dict[int, tuple[str, int]] = {}  # file, line
        self.unknown: list[str] = []
        self.fused, self.of_integers_alone = fused.operands(self.names, self.definitions)
        self.last_atomic: tuple[int, ...] = ()
        self.warp_call = 8
        self.tested: dict[tuple[str, str, str], list[int]] = {}
        self.transparent: set[int] = set()
        self.own_tests: set[int] = set()  # blocks that end in a test of the executor's own
        self.divided: dict[tuple[str, str], list[int]] = {}  # blocks with a quotient or a remainder of the two
        self.hinted: set[int] = set()     # blocks with a load that has a cache hint
        self.stored: dict[int, tuple[int, ...]] = {}  # values, by offset
        self.in_pieces: dict[int, int] = {}  # bytes, by offset, of accesses that the executor does in pieces, as the compiler does not know their alignment
        # A sine and a cosine that became one call have lost their place; what takes the call's parts has not.
        self.parts_of = {part[1]: s.file for block in function.blocks.values() for s in block.statements for part in [PART.search(s.text)] if part}
        self.find_places()
        self.ordered = not all("restrict" in text for text in re.findall(r"[^(,]*\*[^,)]*", function.head))

    def find_places(self) -> None:
        """Of every hook that the dump has, in order."""
        wanted = []
        has_arrays = local_arrays.own_arrays(self.names)
        for block in self.function.blocks.values():
            announced = []  # of accesses that are still to come
            for statement in block.statements:
                match = HOOK.match(statement.text)
                if match and "vptr" not in match[2] and not self.is_gone(match):
                    wanted.append(match[2].removeprefix("simt::"))
                if match and match[3] in ("read", "write"):
                    announced.append("own_load" if match[3] == "read" else "own_store")
                elif has_arrays and (way := local_arrays.access(statement.text)):
                    if way in announced:
                        announced.remove(way)
                    else:
                        wanted.append(way)
        places = hooks.places(wanted, self.calls)
        self.matched = places is not None
        self.places = iter(places or [-1] * len(wanted))

    def is_gone(self, match: re.Match) -> bool:
        """announce/ takes out what is plainly the thread's own."""
        return match[2].startswith("__tsan") and is_of_thread(self.names, match[4])

    def add(self, block: int, cost: Cost, writes=(), reads=(), offset: int = -1, name: str = "") -> None:
        self.blocks[block].append((cost, tuple(writes), tuple(reads), offset, name))

    def hook(self, n: int, match: re.Match) -> None:
        to, hook = match[1], match[2].removeprefix("simt::")
        if hook == "__sanitizer_cov_trace_pc":
            place = next(self.places)
            if n in self.offset:
                self.more.setdefault(n, []).append(place)  # blocks that were joined into one
            else:
                self.offset[n] = place
            return
        offset = next(self.places)
        reads = self.values.read(match[4].rpartition(", ")[0] if hook in ("warp_exchange", "block_barrier") else match[4])
        if hook.startswith("before_atomic"):
            self.last_atomic = (self.values.of(f"atomic at {offset}"),)
            self.add(n, Cost("atomic", 1), self.last_atomic, reads, offset, name=atomics.kind_of(self, n, match[4]))
            return
        kind = {"block_barrier": "barrier", "grid_barrier": "grid_barrier", "active_lanes": "active"}.get(hook) or WARP_CALLS.get(self.warp_call, "shuffle")
        # A reduction and a match ask first who takes part; eight bytes go in two shuffles.
        instructions = 0.5 if kind in ("reduce", "match") else 2 if kind == "shuffle" and hook == "warp_exchange" and self.is_of_eight(match[4]) else 1
        self.add(n, Cost(kind, instructions), self.written(to) if to else (), reads, offset)

    def is_of_eight(self, arguments: str) -> bool:
        """Does a lane bring eight bytes? Fewer are copied into `bits` first (warp.h)."""
        value = arguments.split(", ")[1]
        return bool(SSA.fullmatch(value)) and self.definitions.text.get(value) != "bits"

    def written(self, to: str) -> tuple[int, ...]:
        to = to.strip()
        if SSA.fullmatch(to):
            return (self.values.of(to),)
        names = [name for name in self.names.read(to) if not SSA.fullmatch(name)]
        return tuple(self.values.of(part) for name in names[:1] for part in self.values.parts(name))

    def statement(self, n: int, statement: Statement) -> None:
        text = statement.text
        if text.startswith(("return", "switch", "goto", "resx")):
            if text.startswith("switch"):
                self.add(n, Cost("alu", 3), (), self.values.read(text))
            return
        condition = IF.match(text) or re.match(r"^if \((\S+)()()\)$", text)
        if text.startswith("if ("):
            if condition:
                self.condition(n, condition, statement)
            return
        if "__asm__" in text:
            marker = MARKER.search(text)
            cost = costs.OF_HALVES.get(marker[1]) if marker else None
            if cost is None:
                self.unknown.append("inline PTX or assembly")
                return
            # __asm__("# gpu half" : "=r" to : "0" from)
            found = SSA.findall(text)
            writes = (self.values.of(found[0]),) if found else ()
            self.add(n, cost, writes, self.values.read(" ".join(found[1:])), name=found[0] if found else "")
            return
        assign = costs.ASSIGN.match(text)
        call = CALL.match(text) if (text.endswith(");") or "); [" in text) and not text.startswith("MEM") else None
        if call and (call[2].startswith(".") or re.match(r"^[A-Za-z_~]", call[2])) and not re.match(r"^(MAX|MIN|ABS)", call[2]):
            self.called(n, call, statement)
            return
        if not assign:
            return
        to, source = assign[1], assign[2]
        line = re.search(r"\.call$", to)
        if line and re.fullmatch(r"\d+", source):
            self.warp_call = int(source)
        if is_own(statement.file):
            cost = Cost("copy")
        else:
            cost = self.known_quotient(n, source) or costs.of_expression(self.names, to, source, statement.file)
            added = costs.BINARY.match(source) if self.names.is_pointer(to) else None
            if added and added[2] == "+" and addresses.is_sum_of_64_bits(self.names, self.definitions, added[1], added[3]):
                cost = Cost("integer", 2)
        self.assign(n, to, source, cost)

    def known_quotient(self, n: int, source: str) -> Cost | None:
        """A remainder is made of the quotient, where that is known, and a quotient of the divisor's reciprocal."""
        match = costs.BINARY.match(source)
        if not match or match[2] not in "/%" or not SSA.fullmatch(match[3]) or self.names.is_float(match[3]) or self.names.is_double(match[3]):
            return None
        known = []
        for key in ((match[1], match[3]), ("", match[3])):
            earlier = self.divided.setdefault(key, [])
            known.append(any(other == n or other in self.dominating.get(n, ()) for other in earlier))
            earlier.append(n)
        wide = self.names.is_wide(match[3])
        if known[0]:
            return Cost("integer", 4 if wide else 2)
        # In a loop that does not change the divisor it is computed before.
        outside = any(n in loop.blocks and self.definitions.block.get(match[3]) not in loop.blocks for loop in self.loops)
        return Cost("integer", 11) if not wide and (known[1] or outside) else None

    def assign(self, n: int, to: str, source: str, cost: Cost) -> None:
        reads = self.values.read(source)
        read_at, written_at = self.elements.of(source, n), self.elements.of(to, n)
        if read_at or written_at:
            self.add(n, Cost("copy"), (written_at,) if written_at else self.written(to), (read_at,) if read_at else reads, name="copy")
            return
        if to in self.fused or cost.kind == "copy" or (cost.kind == "alu" and cost.instructions == 0):
            if SSA.fullmatch(to):
                self.values.made_of[to] = reads
                return
            copy = re.fullmatch(VARIABLE, source)
            if copy and copy[1] in self.names.variables and re.fullmatch(VARIABLE, to):
                for a, b in zip(self.values.parts(to), self.values.parts(copy[1])):
                    self.add(n, Cost("copy"), (self.values.of(a),), (self.values.of(b),), name="copy")
                return
            writes = self.written(to)
            if writes:
                self.add(n, Cost("copy"), writes, reads, name="copy")
            return
        if cost.kind == "integer" and to in self.of_integers_alone:
            cost = Cost("alu", cost.instructions)
        self.add(n, cost, self.written(to), reads, name=to)

    def called(self, n: int, call: re.Match, statement: Statement) -> None:
        to, name = call[1] or "", call[2].strip()
        cost = costs.of_call(self.names, name, to, self.known, statement.file or self.parts_of.get(to, ""))
        reads = self.values.read(call[3])
        if "__tsan_atomic" in name or "__atomic" in name:
            reads += self.last_atomic
        if cost.kind == "unknown":
            self.unknown.append(cost.why)
        if cost.kind == "copy" or (cost.kind == "alu" and cost.instructions == 0):
            if SSA.fullmatch(to):
                self.values.made_of[to] = reads
            elif to and self.written(to):
                self.add(n, Cost("copy"), self.written(to), reads)
            return
        self.add(n, cost, self.written(to) if to else (), reads, name=to)

    def condition(self, n: int, match: re.Match, statement: Statement) -> None:
        a, compare, b = match[1], match[2], match[3]
        self.conditions[n] = (a, compare, b)
        self.tested_at[n] = statement.file, statement.line
        reads = self.values.read(f"{a} {b}")
        if is_own(statement.file):
            self.own_tests.add(n)
        free = is_own(statement.file) or (b in ("0", "") and "_Bool" in self.names.declaration(a))
        # The same test a second time: its predicate is still there.
        if SSA.fullmatch(a) and any(earlier in self.dominating.get(n, ()) for earlier in self.tested.get((a, compare, b), [])):
            free = True
        self.tested.setdefault((a, compare, b), []).append(n)
        cost = Cost("alu", 0) if free else costs.of_binary(self.names, "", a, compare or "!=", b, "")
        self.add(n, cost, (), reads, name="test")

    def tests_of(self, loop: shapes.Loop) -> list[int]:
        """Blocks that end in a test which may leave the loop."""
        return sorted(n for n in loop.blocks if n in self.tested_at and any(to not in loop.blocks for to in self.function.blocks[n].next))

    def read_blocks(self) -> None:
        for n, block in self.function.blocks.items():
            self.blocks[n] = []
            access_of = announced.accesses(block.statements)
            waiting_for: dict[int, list[tuple[re.Match, int]]] = {}  # hooks whose access is still to come
            for at, statement in enumerate(block.statements):
                if statement.file.endswith(TENSOR_CORES):
                    self.unknown.append("tensor cores")
                hook = HOOK.match(statement.text)
                if not hook:
                    hooks_of = waiting_for.get(at, [])
                    ways = {match[3] for match, _ in hooks_of}
                    for match, offset in sorted(hooks_of, key=lambda one: one[0][3] == "write"):
                        announced.add(self, n, match, offset, statement.text, other_side="read" in ways)
                    if not hooks_of or " = " not in statement.text:
                        self.statement(n, statement)
                elif hook[3] and not self.is_gone(hook):
                    offset = next(self.places)
                    if at in access_of:
                        waiting_for.setdefault(access_of[at], []).append((hook, offset))
                    else:
                        announced.add(self, n, hook, offset, "", other_side=False)
                    if hook[3] == "read" and statement.file.endswith("simt/loads.h"):
                        self.hinted.add(n)
                elif not hook[3] and "vptr" not in hook[2]:
                    self.hook(n, hook)
            files = [s.file for s in block.statements if s.file and "__sanitizer_cov" not in s.text]
            if files and all(is_own(file) for file in files):
                self.transparent.add(n)
        self.transparent |= constructors.blocks(self.function)
        self.count_bits()

    def count_bits(self) -> None:
        for loop, bits in bits_counted.find(self.function, self.names, self.definitions, self.loops):
            before = hoisting.before_loop(self.function.blocks, loop)
            if before is not None:
                self.transparent |= loop.blocks
                self.add(before, costs.of_call(self.names, "popcountl" if self.names.is_wide(bits) else "popcount", "", set(), ""), (), self.values.read(bits), name="bits")


def number_joined(table: FunctionTable) -> dict[str, int]:
    """Numbers of values, also of those that nothing but another joined value (a phi) reads: what was loaded comes through them."""
    number, sources = table.values.number, table.definitions.phi
    todo = [name for name in sources if name in number]
    while todo:
        for name in sources[todo.pop()].values():
            if name in sources and name not in number and name not in table.values.made_of:
                table.values.of(name)
                todo.append(name)
    return number


def names_of(functions: list[Function]) -> set[str]:
    """With and without their namespaces."""
    whole = {short_name(function) for function in functions}
    return whole | {name.split("::")[-1] for name in whole}


def lines_of(function: Function, calls: list[tuple[int, str]], known: set[str]) -> list[str]:
    """known: of names_of(), for the whole file."""
    table = FunctionTable(function, calls, known)
    # What a copy passes on must be known before a later block reads it: twice, since blocks are not in order of execution.
    table.read_blocks()
    made_of, loaded_from = dict(table.values.made_of), table.values.loaded_from
    number = number_joined(table)
    table = FunctionTable(function, calls, known)
    table.values.made_of, table.values.number, table.values.loaded_from = made_of, number, loaded_from
    table.read_blocks()
    hoisting.hoist(function.blocks, table.definitions, table.names, table.loops, table.dominating, table.blocks)
    cost = {n: sum(o[0].instructions for o in operations) for n, operations in table.blocks.items()}
    made = {n: [(o[4], o[0].instructions) for o in operations] for n, operations in table.blocks.items()}
    barriers = {n for n, operations in table.blocks.items() if any(o[0].kind in ("barrier", "grid_barrier", "call") for o in operations)}
    for loop in table.loops:
        loop.asked = asked(table, loop)
        loop.reads_step = any(pragmas.steps_by_warp_size(*table.tested_at[n]) for n in table.tests_of(loop))
    table.settled = settled.Settled(table, in_llvm := {n: llvm.of_block(block, table.blocks[n]) for n, block in function.blocks.items()})
    table.sizes = unrolling.Sizes(cost, in_llvm, local_arrays.elements(function, table.names), table.settled.elsewhere(cost))
    # A sum of floats in shared memory is a loop on the GPU, too.
    tried = {to for n, operations in table.blocks.items() if any(o[4] == "of floats" for o in operations) for to in function.blocks[n].next}
    unrolling.settle(function, table.names, table.definitions, table.conditions, table.sizes, made, barriers | table.hinted,
                     {n for n, operations in table.blocks.items() if any(o[0].kind in ACCESSES for o in operations)}, table.dominating, table.loops, table.transparent - tried)
    decided = fused.decided(table.definitions, table.loops)
    offsets = steady.by_block(table.definitions, table.loops, table.names, decided)
    numbers_in_rounds.cheapen(table.blocks, numbers_in_rounds.divisors(table.definitions, table.names, table.loops, decided))
    repeated, stored = hoisting.repeated(table)
    own = {n: sum(o[0].instructions for o in operations if o[4] not in offsets.get(n, ())) for n, operations in table.blocks.items()}
    short = shapes.predicated(function, own, barriers | {loop.header for loop in table.loops if loop.unroll != 0})
    no_choice = table.own_tests | table.transparent | {n for n in table.conditions if is_decided(table, n, decided)}
    moves = chosen.lines_of(function, table.names, table.definitions, table.dominating, short, no_choice, number)
    lines = [f"f {function.symbol} {int(function.kernel)} {int(table.ordered)} {int(table.matched)}"]
    table.unknown += local_arrays.in_memory(function, table.names, table.definitions, table.loops) + waiting.waits(function, table.names, table.definitions, table.loops, barriers)
    lines += [f"u {why}" for why in dict.fromkeys(table.unknown)]
    for loop in table.loops:
        lines.append(f"l {loop.header} {loop.unroll} {loop.entry} {numbers(sorted(loop.blocks))}")
    headers = {n for loop in table.loops for n in (loop.blocks if loop.unroll == 0 else {loop.header})}
    for n, block in function.blocks.items():
        free = n in table.transparent or n in table.own_tests
        flags = ("pd" if n in table.settled.tests else "p" if n in short or n in table.own_tests else "") + ("t" if n in table.transparent else "")
        unrolled = any(loop.unroll == 0 and n in loop.blocks and any(to not in loop.blocks or to == loop.header for to in block.next) for loop in table.loops)
        branch = 0 if free or unrolled or n in short or n in table.settled.tests else 1 if len(block.next) > 1 or block.next and block.next[0] <= n else 0
        lines.append(f"b {n} {table.offset.get(n, -1)} {branch} {flags or '-'} {numbers(block.next)}")
        lines += [f"k {place}" for place in table.more.get(n, ())]
        for name, arguments in block.phis:
            if SSA.fullmatch(name) and name in number:
                # of a value that is made of several the first is as good as any
                sources = [f"{p}:{table.values.made_of.get(a, (number.get(a, -1),))[0] if table.values.made_of.get(a, (1,)) else -1}" for p, a in arguments.items()]
                lines.append(f"h {number[name]} {' '.join(sources)}")
                # Each constant that it may be is an instruction under a predicate, or before a jump.
                constants = sum(not SSA.fullmatch(a) for a in arguments.values())
                if constants and n not in headers and n not in table.transparent:
                    lines.append(f"o i {4 * constants} 0 - -1 - -")
        lines += moves.get(n, []) if n not in table.transparent else []
        for (cost_of, writes, reads, offset, name), unchanged_in in zip(table.blocks[n], repeated[n]):
            if n in table.transparent and cost_of.kind in ("alu", "integer", "float", "convert", "double"):
                cost_of = Cost("copy")
            flags = ("f" if cost_of.fence else "") + ("F" if name == "of floats" else "u" if name == "of one" else "i" if name == "by one" else "") + ("g" if name in offsets.get(n, ()) or (name == "test" and (is_loop_test(table, n) or is_decided(table, n, decided))) else "") + \
                ("k" if name.startswith("at ") and name[3:] in offsets.get(n, ()) else "")
            for part, to, of in doubles.parts(table.values, cost_of, name, writes, reads):
                lines.append(f"o {LETTERS[part.kind]} {round(part.instructions * 4)} {part.mufu} {flags or '-'} {offset} {numbers(to)} {numbers(of)}")
                lines += [f"n {numbers(unchanged_in)}"] if unchanged_in else []
            if offset in stored:
                lines.append(f"v {numbers(stored[offset])}")
    return lines + table.elements.lines(len(number)) + joined_loads.lines_of(table)


def asked(table: FunctionTable, loop: shapes.Loop) -> int | None:
    """Of the first of its tests that a pragma stands before."""
    return next((number for n in table.tests_of(loop) for number in [pragmas.asked(*table.tested_at[n])] if number is not None), None)


def is_loop_test(table: FunctionTable, n: int) -> bool:
    """A test that leaves an unrolled loop is made once for all rounds that stand together."""
    return any(loop.unroll != 1 and n in loop.blocks and any(to not in loop.blocks for to in table.function.blocks[n].next) for loop in table.loops)


def is_decided(table: FunctionTable, n: int, decided: set[str]) -> bool:
    """Does the compiler know the test's outcome in each round of an unrolled loop, or of the loop for this outcome?"""
    a, _, b = table.conditions[n]
    return n in table.settled.tests or a in decided and (b in decided or not SSA.fullmatch(b))
