"""Blocks that construct a variable in shared memory, which has a constructor of its own on the executor. On a GPU nothing does."""

from __future__ import annotations

from gimple import Function

GUARD = "&_ZGV"  # of a static variable: is it constructed?


def blocks(function: Function) -> set[int]:
    before: dict[int, list[int]] = {}
    for n, block in function.blocks.items():
        for to in block.next:
            before.setdefault(to, []).append(n)

    def has(n: int, hook: str) -> bool:
        return any(hook in statement.text and GUARD in statement.text for statement in function.blocks[n].statements)

    found: set[int] = set()
    todo = [n for n in function.blocks if has(n, "__tsan_write1")]
    while todo:  # back to the test of the guard
        n = todo.pop()
        if n not in found and (not has(n, "__tsan_read1") or has(n, "__tsan_write1")):
            found.add(n)
            todo += before.get(n, [])
    return found
