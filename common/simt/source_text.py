"""A source file as text: with its lines, and as code, with comments and strings blanked."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple


class UserError(Exception):
    pass


class Text(NamedTuple):
    """A source file; `code` is it with comments and strings blanked, of the same length."""
    path: Path
    text: str
    code: str
    starts: list[int]

    def line(self, at: int) -> int:
        return bisect_right(self.starts, at)

    def error(self, at: int, what: str) -> UserError:
        return UserError(f"{self.path}:{self.line(at)}: {what}")


def read(path: Path) -> Text:
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    return of_text(path, path.read_text(errors="surrogateescape"))


def of_text(path: Path, text: str) -> Text:
    text = text.replace("\r\n", "\n").lstrip("\ufeff")
    return Text(path, text, strip_comments(text), [0, *(m.end() for m in re.finditer("\n", text))])


def strip_comments(text: str) -> str:
    def blank(match: re.Match) -> str:
        spaces = re.sub(r"[^\n]", " ", match[0])
        # A string keeps its quotes: `<< "text" <<` is not `<< <<`.
        return spaces if match[0][0] == "/" else '"' + spaces[1:-1] + '"'
    raw_string, comment = r'R"([^ ()\\\n]*)\(.*?\)\1"', r"//(?:\\\n|[^\n])*|/\*.*?\*/"
    string, character = r'"(?:\\.|[^"\\\n])*"', r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"
    return re.sub(f"{raw_string}|{comment}|{string}|{character}", blank, text, flags=re.DOTALL)


def closing(code: str, at: int) -> int:
    """The position of the bracket that closes the one at `at`; -1 if none does."""
    open_, close = code[at], {"(": ")", "{": "}", "[": "]"}[code[at]]
    depth = 0
    for i in range(at, len(code)):
        if code[i] == open_:
            depth += 1
        elif code[i] == close:
            depth -= 1
            if depth == 0:
                return i
    return -1


def inside_function(code: str, at: int) -> bool:
    """Is this within braces that are not a namespace's or of extern "C"?"""
    stack = []
    for brace in re.finditer(r"[{}]", code[:at]):
        if brace[0] == "}":
            if stack:
                stack.pop()
            continue
        before = re.split(r"[;{}]", code[max(0, brace.start() - 200):brace.start()])[-1]
        stack.append(not re.search(r"\bnamespace\b[^()]*$|\bextern\s*$", before))
    return any(stack)
