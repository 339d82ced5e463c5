"""Which statement of a block does the access that a hook announces. It is mostly the next one; but g++ counts an address in between, announces
both sides of a copy before it, or loads only where the value is needed."""

from __future__ import annotations

import re

from costs import BINARY, CALL, CAST, HOOK, SSA, TERNARY, Cost
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
            if next_at == at + 1 and CALL.match(text):
                found[at] = next_at
                break
            if equals and (not SSA.fullmatch(target) if way == "write" else is_read(source, hook[4])):
                found[at] = next_at
                taken[way].add(next_at)
                break
    return found


def add(table, n: int, hook: re.Match, offset: int, text: str, other_side: bool) -> None:
    """Puts an access into block n of the table. text: the statement that does it, "" if it is none of the block. other_side: it copies from memory to memory, whose
    other side was announced, too."""
    values = table.values
    kind = {"read": "load", "write": "store"}.get(hook[3], "load_store")
    target, _, source = text.removesuffix(";").partition(" = ")
    brought = values.read(call[3] if (call := CALL.match(text)) else source)
    copied = f"copied to {target}"
    wide = int(size[1]) if (size := re.search(r"(?:read|write)(\d+)$", hook[2])) else 0
    read_at, written_at = table.elements.of(source, n, wide), table.elements.of(target, n, wide)
    # An access of a variable that only this thread has is one of a register: an element of a local array is written and read like a value; it has no
    # address on the GPU.
    writes = table.written(target) if source and (kind != "store" or not target.startswith(("*", "MEM"))) else ()
    if kind == "store" and other_side:
        brought += (values.of(copied),)
    if kind == "store" and written_at:
        writes = (written_at,)
    if kind == "load" and source and not SSA.fullmatch(target) and (written_at or not writes):
        writes = (values.of(copied),)
    if kind == "load" and not source and SSA.fullmatch(hook[4]):
        writes = (values.loaded(hook[4]),)
    if kind == "store":
        table.stored[offset] = brought
    pieces = re.search(r", (\d+)$", hook[4]) if hook[2].endswith("range") else re.search(r"unaligned_read(\d+)$", hook[2])
    if pieces:
        table.in_pieces[offset] = int(pieces[1])
    table.add(n, Cost(kind, 1), writes, values.read(hook[4]) + brought + ((read_at,) if read_at else ()), offset, name=f"at {hook[4].partition(',')[0]}")
    if kind == "load" and written_at and not other_side:
        table.add(n, Cost("copy"), (written_at,), (values.of(copied),), name="copy")
