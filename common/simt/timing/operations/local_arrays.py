"""Which of a thread's own arrays lie in registers, and which in local memory.

An array whose indices are all constants lies in registers. Any other lies in local memory, whose traffic the executor does not see.
"""

from __future__ import annotations

import re

import loops as shapes
from costs import BINARY, CAST, HOOK, SSA, VARIABLE, Names
from gimple import Function

ELEMENT = re.compile(rf"(?<![\w.>]){VARIABLE}((?:\.\w+|\[[^\]]*\])*\[[^\]]*\])")
ACCESS = re.compile(r"(\S+ = )?(?:MEM\b|\*|\w+\[)")
ADDRESS = re.compile(rf"&{VARIABLE}\b")


def pointed_at(function: Function, names: Names) -> dict[str, str]:
    """The thread's own variable that an address (by SSA name) is surely one of: g++ counts addresses where the source has indices."""
    made_of: dict[str, set[str]] = {}  # variables (with &) and SSA names
    for block in function.blocks.values():
        for name, arguments in block.phis:
            made_of[name] = set(arguments.values()) - {name}
        for statement in block.statements:
            to, equals, text = statement.text.removesuffix(";").partition(" = ")
            if not equals or not SSA.fullmatch(to):
                continue
            direct = {f"&{name}" for name in ADDRESS.findall(text) if name in names.variables and "static" not in names.variables[name]}
            if direct or CAST.match(text) or SSA.fullmatch(text) or ((sum_of := BINARY.match(text)) and sum_of[2] == "+"):
                made_of[to] = direct | set(SSA.findall(text))
    found: dict[str, set[str]] = {name: {part for part in parts if part[0] == "&"} for name, parts in made_of.items()}
    grown = any(found.values())
    while grown:
        grown = False
        for name, parts in made_of.items():
            more = set().union(*(found.get(part, ()) for part in parts)) - found[name]
            found[name] |= more
            grown = grown or bool(more)
    return {name: next(iter(variables))[1:] for name, variables in found.items() if len(variables) == 1}


def constants(function: Function, definitions: shapes.Definitions, found: list[shapes.Loop]) -> set[str]:
    """Values that are known once the loops are unrolled to their end."""
    known = set().union(*(loop.steady for loop in found if loop.unroll == 0))
    dominating = shapes.dominators(function)
    headers = {loop.header for loop in found}
    grown = bool(known)
    while grown:
        more = {name for name, text in definitions.text.items() if name not in known and SSA.findall(text)
                and (BINARY.match(text) or CAST.match(text)) and all(part in known for part in SSA.findall(text))}
        # What known tests choose among known values.
        more |= {name for name, sources in definitions.phi.items() if name not in known and (block := definitions.block[name]) not in headers
                 and all(source in known or not SSA.fullmatch(source) for source in sources.values()) and is_chosen(function, dominating, block, known)}
        known |= more
        grown = bool(more)
    return known


def is_chosen(function: Function, dominating: dict[int, set[int]], block: int, known: set[str]) -> bool:
    """Is the way to a block known, from the block that all ways to it come through?"""
    above = dominating.get(block, {block}) - {block}
    first = max(above, key=lambda n: len(dominating[n]), default=block)
    todo, seen = [first], {block}
    while todo:
        n = todo.pop()
        if n in seen:
            continue
        seen.add(n)
        if len(function.blocks[n].next) > 1 and not (function.blocks[n].statements and (test := function.blocks[n].statements[-1].text).startswith("if (")
                                                     and known.issuperset(SSA.findall(test))):
            return False
        todo += function.blocks[n].next
    return True


def own_arrays(names: Names) -> set[str]:
    # `in` first: an expression for each name takes longer to compile than all else here.
    return {name for name, text in names.variables.items()
            if f"{name}[" in text and "static" not in text and re.search(rf"\b{re.escape(name)}(?:\[\d+\])+", text)}


def access(statement: str) -> str | None:
    """What a statement does to memory: "own_load", "own_store" or nothing; only a hook before it tells of shared and global memory."""
    found = ACCESS.match(statement)
    return found and ("own_load" if found[1] else "own_store")


def elements(function: Function, names: Names) -> dict[int, int]:
    """How often each block loads or stores an element of a thread's own array: an access without a hook."""
    if not own_arrays(names):
        return {}
    return {n: max(0, sum(bool(ACCESS.match(s.text)) - bool((hook := HOOK.match(s.text)) and hook[3]) for s in block.statements)) for n, block in function.blocks.items()}


def in_memory(function: Function, names: Names, definitions: shapes.Definitions, found: list[shapes.Loop]) -> list[str]:
    """Why there is no prediction, of each array of the thread's own that is indexed by what only a run knows."""
    own = own_arrays(names)
    if not own:
        return []
    known, why = constants(function, definitions, found), []
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
