"""Loops that take the lowest bit away and count until none is left (for (; x; n++) x &= x - 1): nvcc counts the bits by one instruction. GCC leaves the loop, as the
CPUs that it compiles for need not have such an instruction."""

from __future__ import annotations

import re

import loops as shapes
from costs import BINARY, CAST, HOOK, SSA, Names
from gimple import Function

ALL_BITS = ("-1", "4294967295", "18446744073709551615")
TEST = re.compile(r"^if \((\S+) (?:!=|==) 0\)$")


def find(function: Function, names: Names, definitions: shapes.Definitions, loops: list[shapes.Loop]) -> list[tuple[shapes.Loop, str]]:
    """Such loops, and whose bits each of them counts."""
    return [(loop, bits) for loop in loops if loop.inner for bits in [counted(function, names, definitions, loop)] if bits]


def counted(function: Function, names: Names, definitions: shapes.Definitions, loop: shapes.Loop) -> str | None:
    carried = [name for name in definitions.phi if definitions.block[name] == loop.header]
    statements = [statement.text for n in loop.blocks for statement in function.blocks[n].statements]
    tests = [TEST.match(text) for text in statements if text.startswith("if ")]
    if len(carried) != 2 or len(tests) != 1 or not tests[0]:
        return None
    for bits, count in (carried, carried[::-1]):
        after = next((value for n, value in definitions.phi[bits].items() if n in loop.latches), "")
        step = shapes.advance(loop, names, definitions, count)
        if tests[0][1] in (bits, after) and step and step[1:] == ("+", 1) and takes_lowest(definitions, bits, after) and \
                all(map(is_part, statements)) and sum(bool(BINARY.match(text)) for name, text in definitions.within(loop)) == 3:
            return definitions.first(loop, bits)
    return None


def takes_lowest(definitions: shapes.Definitions, bits: str, after: str) -> bool:
    both = BINARY.match(definitions.text.get(after, ""))
    other = both and both[2] == "&" and bits in (both[1], both[3]) and (both[3] if both[1] == bits else both[1])
    less = BINARY.match(definitions.text.get(other or "", ""))
    return bool(less) and less[1] == bits and (less[2], less[3]) in {("-", "1"), *(("+", number) for number in ALL_BITS)}


def is_part(text: str) -> bool:
    """Of what such a loop consists of: all else would have to be done in each round."""
    if text.startswith("if "):
        return True
    hook = HOOK.match(text)
    if hook:
        return "trace_pc" in hook[2]
    target, equals, source = text.removesuffix(";").partition(" = ")
    return bool(equals and SSA.fullmatch(target) and (CAST.match(source) or BINARY.match(source)))
