"""Loops in which a thread waits for what others write: a lock, a flag, the sum of the block before. How long they run depends on how the blocks
of a GPU run beside each other, and on the executor it depends on the processors that it has: they tell nothing of a GPU's time. So with a compare and
swap that is tried again until no other thread has come between: on the executor hardly ever one does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import loops as shapes
from costs import BINARY, CALL, HOOK, LOCAL, SSA, Names, is_own
from gimple import Function, Statement

WHY = "a loop that waits for what other threads write to memory"


def waits(function: Function, names: Names, definitions: shapes.Definitions, found: list[shapes.Loop], barriers: set[int]) -> list[str]:
    """barriers: blocks with one, or with a call; a loop that all threads of a block go through together does not wait for others."""
    return [WHY] if any(not barriers & loop.blocks and is_wait(function, names, definitions, loop) for loop in found) else []


def is_wait(function: Function, names: Names, definitions: shapes.Definitions, loop: shapes.Loop) -> bool:
    """Does what ends the loop depend on memory alone, always at the same place, and on nothing that the thread counts or changes?"""
    tests = [block.statements[-1] for n, block in function.blocks.items() if n in loop.blocks and block.statements and any(to not in loop.blocks for to in block.next)]
    tests = [test for test in tests if test.text.startswith("if ")]
    if not tests or any(is_own(test.file) for test in tests):
        return False  # the executor's own: an atomic's, until nobody came between
    read = set(unchanged_reads(function, names, definitions, loop))
    needed = slice_of(definitions, loop, (name for test in tests for name in parts(names, test.text)), names)
    counted = {name for name in needed if name in definitions.phi and definitions.block[name] == loop.header and not passes_on(definitions, loop, name, read)}
    return bool(read & needed) and not counted


def passes_on(definitions: shapes.Definitions, loop: shapes.Loop, phi: str, read: set[str]) -> bool:
    """Does it hold in each round what the one before has read (old = atomicCAS(address, assumed = old, ...))?"""
    for value in (name for block, name in definitions.phi[phi].items() if block in loop.latches):
        for _ in range(4):
            text = definitions.text.get(value, "")
            if value in read or any(name in read for name, _ in LOCAL.findall(text.replace("&", " "))):
                break
            value = (SSA.findall(text) or [""])[0] if re.match(r"^\(|^VIEW_CONVERT_EXPR", text) else ""
        else:
            return False
    return True


def parts(names: Names, text: str) -> list[str]:
    return list(SSA.findall(text)) + [name for name, _ in LOCAL.findall(text) if name in names.variables and not SSA.fullmatch(name)]


def slice_of(definitions: shapes.Definitions, loop: shapes.Loop, wanted: Iterable[str], names: Names) -> set[str]:
    """Values and variables of the thread that the wanted ones are made of in the loop."""
    needed, todo = set(), list(wanted)
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        if definitions.block.get(name) in loop.blocks:
            todo += definitions.phi.get(name, {}).values()
            todo += parts(names, definitions.text.get(name, "").replace("&", " "))
    return needed


def unchanged_reads(function: Function, names: Names, definitions: shapes.Definitions, loop: shapes.Loop) -> Iterator[str]:
    """Values that the loop reads from memory by volatile loads or atomics, always from one address, without changing what is there by
    themselves: a sum makes progress (atomicAdd(&next, 1)), an exchange does not."""
    for n in loop.blocks:
        statements = function.blocks[n].statements
        for at, statement in enumerate(statements):
            hook = HOOK.match(statement.text)
            if hook and "volatile_read" in hook[2] and at + 1 < len(statements) and is_steady(definitions, loop, hook[4].partition(",")[0]):
                yield statements[at + 1].text.partition(" = ")[0]
            call = CALL.match(statement.text)
            if call and call[1] and "__tsan_atomic" in call[2] and call[2].endswith("_load") and is_steady(definitions, loop, call[3].partition(",")[0]):
                if not any(makes_progress(definitions, other) for m in loop.blocks for other in function.blocks[m].statements):
                    yield call[1]
                    yield from kept_in(names, call[1], statements[at + 1:])


def is_steady(definitions: shapes.Definitions, loop: shapes.Loop, address: str) -> bool:
    return definitions.block.get(address.strip()) not in loop.blocks


def kept_in(names: Names, value: str, statements: list[Statement]) -> Iterator[str]:
    """Variables that it is copied to (simt/atomics.h has its old value in one)."""
    for statement in statements:
        to, _, source = statement.text.removesuffix(";").partition(" = ")
        if source == value:
            yield from parts(names, to)


def makes_progress(definitions: shapes.Definitions, statement: Statement) -> bool:
    """Does an atomic write what it computes from what was there?"""
    call = CALL.match(statement.text)
    if not call or "compare_exchange" not in call[2]:
        return False
    written = call[3].split(", ")[2]
    for _ in range(3):
        text = definitions.text.get(written, "")
        if BINARY.match(text):
            return True
        written = text.rpartition(" ")[2] if text.startswith("(") else written
    return False
