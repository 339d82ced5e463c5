"""What GCC's dump does not tell of a loop, and its source does: a `#pragma unroll` before it, which GCC does not know, and a step of
`warpSize`, which is a number here and a register on a GPU."""

from __future__ import annotations

import functools
import re
from pathlib import Path

PRAGMA = re.compile(r"^\s*(?:#\s*pragma\s+|_Pragma\s*\(\s*\")(nounroll|unroll)\b\s*\(?\s*([^\s)\"/]*)")
COMMENT = re.compile(r"^\s*(//|/\*|\*|$)")
LOOP = re.compile(r"\b(for|while|do)\b")
WARP_SIZE = re.compile(r"[+-]=\s*warpSize\b")
ALL = 0           # #pragma unroll, without a number
HEAD_LINES = 4    # of a loop: its test may stand some lines below its `for`


@functools.lru_cache(maxsize=None)
def lines_of(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()


def constant(lines: tuple[str, ...], name: str) -> int | None:
    """The number that a name stands for: #define N 8, constexpr int N = 8. None: only a template knows it."""
    defined = re.compile(rf"\b(?:#\s*define\s+{re.escape(name)}\s+\(?|(?:constexpr|const)\b[^;=]*\b{re.escape(name)}\s*(?:=|\{{)\s*)(\d+)\b")
    found = {int(match[1]) for line in lines for match in [defined.search(line)] if match}
    return found.pop() if len(found) == 1 else None


def head_of(lines: tuple[str, ...], line: int) -> int | None:
    """Where the loop begins whose test is in this line."""
    last = min(line, len(lines)) - 1
    return next((at for at in range(last, max(last - HEAD_LINES, -1), -1) if LOOP.search(lines[at])), None)


def steps_by_warp_size(file: str, line: int) -> bool:
    lines = lines_of(file)
    head = head_of(lines, line)
    return head is not None and any(WARP_SIZE.search(text) for text in lines[head:line])


def asked(file: str, line: int) -> int | None:
    """How many rounds of the loop that is tested in this line shall stand one after another. ALL: as many as it has; None: nobody asked."""
    lines = lines_of(file)
    head = head_of(lines, line)
    if head is None:
        return None
    before = next((text for text in reversed(lines[:head]) if not COMMENT.match(text)), "")
    match = PRAGMA.match(before)
    if not match:
        return None
    if match[1] == "nounroll":
        return 1
    if not match[2]:
        return ALL
    number = int(match[2]) if match[2].isdigit() else constant(lines, match[2])
    return number if number else ALL
