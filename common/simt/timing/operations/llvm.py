"""How large a block is to LLVM when nvcc decides how often a loop is unrolled."""

from __future__ import annotations

from costs import HOOK, is_own
from gimple import Block


def of_block(block: Block, operations: list[tuple]) -> list[tuple[str, float]]:
    """About which instructions it is, before it is optimised for a GPU: values and how many instructions make them. operations: as
    table.py has them."""
    found = [("phi", 1.0)] * len(block.phis)
    for statement in block.statements:
        if HOOK.match(statement.text) or is_own(statement.file) or "__asm__" in statement.text:
            continue
        found.append(("test", 2.0) if statement.text.startswith("if ") else (statement.text.partition(" = ")[0], 1.0))
    return found + [(name, 1.5 * cost.instructions - 1) for cost, _, _, _, name in operations if cost.instructions > 3]
