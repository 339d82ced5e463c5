"""Headers that many files begin with are understood by g++ once for a class.

The preprocessed text of a file begins with that of the headers that it includes first. What g++ has made of this text is kept as a
precompiled header, and of the next file that begins so only the rest is compiled. Nothing of a submission goes into it: its text
follows from the headers' names, and only a file whose own text is the same, line by line, gets it. The code is the same.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Callable

# To make one takes as long as it saves at two files; and one takes 25 MB.
WORTH_WHILE = 3
MOST = 16
FOLDER = "headers"  # in the compiler's root


def first_includes(source: str) -> tuple[str, ...]:
    """The #include lines at the file's beginning, up to the first line that is none, no comment and not empty."""
    found = []
    source = re.sub(r"\A(\s*/\*.*?\*/)+", "", source, flags=re.DOTALL)
    for line in source.split("\n"):
        line = line.strip()
        if line and not line.startswith("//"):
            if not (included := re.fullmatch(r'#\s*include\s*(<[\w./]+>|"[\w./]+")\s*(//.*)?', line)):
                break
            found.append(included[1])
    return tuple(found)


@dataclass
class Start:
    """What a text begins with."""

    lines: list[str]  # of the headers, and none of the file's own
    file: str = ""  # the precompiled header, once there is one


def of_the_file(line: str, label: str) -> bool:
    """Empty, or the compiler's mark that what follows is of the file itself."""
    return not line or (line.startswith("# ") and f'"{label}"' in line)


class Headers:
    """preprocessed(build, source): the text of a file in one of the builds. compiled(build, text, name): makes the precompiled header of a
    text, and returns the path by which the compiler opens it, "" if it cannot be made. allowed: what may be included, "<cmath>"."""

    def __init__(self, allowed: frozenset[str], preprocessed: Callable[[str, str], str], compiled: Callable[[str, str, str], str]):
        self.allowed, self.preprocessed, self.compiled = allowed, preprocessed, compiled
        self.met: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.starts: dict[tuple[str, tuple[str, ...]], Start] = {}
        self.lock = threading.Lock()

    def start_of(self, build: str, source: str) -> Start | None:
        included = first_includes(source)
        key = build, included
        if not included or not self.allowed.issuperset(included):
            return None
        with self.lock:
            self.met[key] += 1
            if self.met[key] != WORTH_WHILE or len(self.starts) == MOST:
                return self.starts.get(key)
            self.starts[key] = Start([])
            name = str(len(self.starts))  # here, or two that are made at one time have one name
        text = self.preprocessed(build, "".join(f"#include {name}\n" for name in included))
        made = Start([line for line in text.split("\n") if not of_the_file(line, "headers")])
        made.file = self.compiled(build, text, name)
        self.starts[key] = made
        return made

    def shortened(self, build: str, source: str, text: str, label: str) -> str:
        """The text to compile: the whole, or one that begins with a precompiled header."""
        start = self.start_of(build, source)
        if not start or not start.file:
            return text
        lines, at = text.split("\n"), 0
        for wanted in start.lines:
            while at < len(lines) and of_the_file(lines[at], label):
                at += 1
            if at == len(lines) or lines[at] != wanted:
                return text
            at += 1
        # The first mark that follows says where the file goes on. That it returns there from a header is of no interest now.
        while at < len(lines) and not lines[at]:
            at += 1
        mark = re.fullmatch(rf'(# \d+ "{re.escape(label)}") 2', lines[at]) if at < len(lines) else None
        if not mark:
            return text
        return "\n".join([lines[0], f'#pragma GCC pch_preprocess "{start.file}"', mark[1], *lines[at + 1:]])
