"""What loops that are unrolled to their end make constant: the indices of a thread's own arrays, and what is the same in each round of an outer
loop.

An array whose indices are all constants lies in registers. Any other lies in local memory, whose traffic the executor does not see.
"""

from __future__ import annotations

import re

import loops as shapes
from costs import BINARY, CAST, SSA, Names
from gimple import Function

ELEMENT = re.compile(r"(?<![\w.>])([A-Za-z_]\w*|D\.\d+)((?:\.\w+|\[[^\]]*\])*\[[^\]]*\])")
ADDRESS = re.compile(r"&([A-Za-z_]\w*|D\.\d+)\b")


def constants(definitions: shapes.Definitions, found: list[shapes.Loop]) -> set[str]:
    known = set().union(*(loop.steady for loop in found if loop.unroll == 0))
    grown = True
    while grown:
        more = {name for name, text in definitions.text.items() if name not in known and SSA.findall(text)
                and (BINARY.match(text) or CAST.match(text)) and all(part in known for part in SSA.findall(text))}
        known |= more
        grown = bool(more)
    return known


def in_memory(function: Function, names: Names, definitions: shapes.Definitions, found: list[shapes.Loop]) -> list[str]:
    """Why there is no prediction, of each array of the thread's own that is indexed by what only a run knows."""
    own = {name for name, text in names.variables.items() if re.search(rf"\b{re.escape(name)}(?:\[\d+\])+", text) and "static" not in text}
    if not own:
        return []
    known, why = constants(definitions, found), []
    for block in function.blocks.values():
        for statement in block.statements:
            if "__tsan" in statement.text or "simt::" in statement.text:
                continue
            for name, index in ELEMENT.findall(statement.text):
                if name in own and any(part not in known for part in SSA.findall(index)):
                    why.append(name)
            if re.search(r" = &\S+ \+ ", statement.text) and (name := ADDRESS.search(statement.text)) and name[1] in own and \
                    any(part not in known for part in SSA.findall(statement.text.partition(" = ")[2])):
                why.append(name[1])
    return [f"accesses to local memory (the array {name}, which each thread has for itself, is indexed by what only the run knows)" for name in dict.fromkeys(why)]


def repeated(definitions: shapes.Definitions, found: list[shapes.Loop]) -> dict[str, int]:
    """Of values of a loop inside of another, both unrolled to their end, that are the same in all rounds of the outer one: how many rounds that has.
    nvcc computes them once."""
    times: dict[str, int] = {}
    full = [loop for loop in found if loop.unroll == 0 and loop.rounds]
    for outer in full:
        inner = [loop for loop in full if loop is not outer and loop.blocks < outer.blocks]
        if not inner:
            continue
        steady = set().union(*(loop.steady for loop in inner))
        inside = {name for name in [*definitions.text, *definitions.phi] if definitions.block.get(name) in outer.blocks}
        varying = {name for name in inside if name not in steady and (name in definitions.phi or not (BINARY.match(definitions.text[name]) or CAST.match(definitions.text[name])))}
        grown = True
        while grown:
            more = {name for name in inside - varying if name not in steady and any(part in varying for part in SSA.findall(definitions.text.get(name, "")))}
            varying |= more
            grown = bool(more)
        for name in inside - varying - steady:
            if any(definitions.block[name] in loop.blocks for loop in inner):
                times[name] = times.get(name, 1) * outer.rounds
    return times
