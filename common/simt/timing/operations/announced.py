"""Which statement of a block does the access that a hook announces. It is mostly the next one; but g++ counts an address in between, announces
both sides of a copy before it, or loads only where the value is needed."""

from __future__ import annotations

import re

from costs import BINARY, CALL, CAST, HOOK, SSA, TERNARY
from gimple import Statement

IN_MEMORY = re.compile(r"^\*|\bMEM\b|\[|->|(?<![\d])\.[A-Za-z_]|PART_EXPR|BIT_FIELD_REF|VIEW_CONVERT|^[A-Za-z_]\w*$")


def is_read(source: str, address: str) -> bool:
    """Does an expression read memory, or a variable? A pack's address, by which its words are taken, stands for the pack."""
    if source.startswith("&"):
        return address in SSA.findall(source)
    return not (SSA.fullmatch(source) or CAST.match(source) or BINARY.match(source) or TERNARY.match(source)) and bool(IN_MEMORY.search(source))


def accesses(statements: list[Statement]) -> dict[int, int]:
    """The statement of each hook of an access (__tsan), by their places in the block. A hook is left out if no statement of the block is its access."""
    found: dict[int, int] = {}
    taken: dict[str, set[int]] = {"read": set(), "write": set()}
    for at, statement in enumerate(statements):
        hook = HOOK.match(statement.text)
        if not hook or not hook[3]:
            continue
        way = "write" if hook[3] == "write" else "read"
        for next_at in range(at + 1, len(statements)):
            text = statements[next_at].text
            if text.startswith("if "):
                break
            if HOOK.match(text) or next_at in taken[way]:
                continue
            target, equals, source = text.removesuffix(";").partition(" = ")
            if CALL.match(text) if next_at == at + 1 else False:
                found[at] = next_at
                break
            if equals and (not SSA.fullmatch(target) if way == "write" else is_read(source, hook[4])):
                found[at] = next_at
                taken[way].add(next_at)
                break
    return found
