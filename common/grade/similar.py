"""How alike the files of a class are, lab by lab: fingerprints of what the students wrote themselves (winnowing: Schleimer, Wilkerson and
Aiken, 2003), compared pair by pair.

A file becomes tokens without names, numbers and layout (tokens.py). What was handed out is taken out of it: runs of EXACT tokens as they
are written, or of RENAMED after renaming, that also stand in a starter, a header for rungs, a handout, a hint, the book, or the solution of
a lab before. Of the rest every run of RUN tokens has a hash; of each WINDOW of neighbouring hashes the least is kept, so that two files
which share RUN + WINDOW - 1 tokens in a row share a fingerprint, in whatever order their functions stand. What many files have weighs less
than what few have: everybody's loop tells nothing.

It accuses nobody: it says where a person may want to look.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tokens import Token, tokens

EXACT, RENAMED = 10, 24
RUN, WINDOW = 8, 4
LEAST_TOKENS = 40  # of a student's own; with fewer there is nothing to compare
COURSE = Path(__file__).resolve().parents[2]


@dataclass
class File:
    """What somebody handed in for a lab; of files that are the same token for token one, with all who have it."""

    students: list[tuple[str, str]]  # (name, id); no id: not of this class
    text: str
    tokens: list[Token]
    own: list[tuple[int, int]]  # runs of tokens that were not handed out: begin, end
    prints: set[int] = field(default_factory=set)

    @property
    def own_tokens(self) -> int:
        return sum(end - begin for begin, end in self.own)

    @property
    def of_this_class(self) -> bool:
        return any(id for _, id in self.students)


@dataclass(frozen=True)
class Pair:
    first: File
    second: File
    alike: float  # 0 to 1: of the smaller one's own text, what the other has too; what many have counts less
    shared: int  # fingerprints


@lru_cache(maxsize=None)
def number_of(word: str) -> int:
    return zlib.crc32(word.encode())  # the same in every process, as Python's own hash of a text is not


def hashes(numbers: list[int], length: int) -> list[int]:
    """Of each run of so many."""
    return [hash(tuple(numbers[i:i + length])) for i in range(len(numbers) - length + 1)]


def runs(found: list[Token]) -> tuple[tuple[list[int], int], tuple[list[int], int]]:
    return ([number_of(token.exact) for token in found], EXACT), ([number_of(token.word) for token in found], RENAMED)


def handed_out(course: Path, lab: str) -> set[int]:
    """Hashes of what everybody has. A folder of headers that later labs are given answers what earlier ones ask, as their solutions do."""
    starters = {path: path.read_text(errors="replace") for path in sorted(course.glob("labs/*/*.cu"))}
    until_here = "".join(text for path, text in starters.items() if path.parent.name <= lab)
    texts = [*starters.values(), *(path.read_text(errors="replace") for path in sorted(course.glob("common/rung/**/*.h"))
                                   if path.parent.name == "rung" or f'#include "{path.parent.name}/' in until_here)]
    texts += [path.read_text(errors="replace") for path in sorted(course.glob("solutions/*/*.cu")) if path.parent.name < lab]  # make diff shows them
    for path in [*sorted(course.glob("labs/*/*.md")), *sorted(course.glob("theory/*.md"))]:
        texts += re.findall(r"(?ms)^ *```[^\n]*\n(.*?)^ *```", path.read_text(errors="replace"))
    return {value for text in texts for numbers, length in runs(tokens(text)) for value in hashes(numbers, length)}


def file_of(name: str, id: str, source: bytes, common: set[int]) -> File:
    text = source.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    found = tokens(text)
    covered = [False] * len(found)
    for numbers, length in runs(found):
        for i, value in enumerate(hashes(numbers, length)):
            if value in common:
                covered[i:i + length] = [True] * length
    own, begin = [], None
    for i, is_covered in enumerate([*covered, True]):
        if not is_covered and begin is None:
            begin = i
        elif is_covered and begin is not None:
            own.append((begin, i))
            begin = None
    numbers = [number_of(token.word) for token in found]
    return File([(name, id)], text, found, own, {value for begin, end in own for value in winnowed(hashes(numbers[begin:end], RUN))})


def winnowed(values: list[int]) -> set[int]:
    """The least of each window."""
    return {min(values[i:i + WINDOW]) for i in range(max(1, len(values) - WINDOW + 1))} if values else set()


def distinct(files: list[File]) -> list[File]:
    """Those that are the same token for token as one."""
    found: dict[tuple[str, ...], File] = {}
    for file in files:
        same = found.setdefault(tuple(token.word for token in file.tokens), file)
        if same is not file:
            same.students += file.students
    return list(found.values())


def pairs(files: list[File], least: float = 0.0) -> list[Pair]:
    """All that share something, the most alike first. A fingerprint that n of N files have weighs log(1 + N / n)."""
    having: dict[int, list[int]] = defaultdict(list)
    for number, file in enumerate(files):
        for value in file.prints:
            having[value].append(number)
    weight = {value: math.log(1 + len(files) / len(numbers)) for value, numbers in having.items()}
    whole = [sum(weight[value] for value in sorted(file.prints)) for file in files]
    sums: dict[tuple[int, int], float] = defaultdict(float)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for value in sorted(having):
        numbers = having[value]
        for i, a in enumerate(numbers):
            for b in numbers[i + 1:]:
                sums[a, b] += weight[value]
                counts[a, b] += 1
    found = [Pair(files[a], files[b], total / min(whole[a], whole[b]), counts[a, b]) for (a, b), total in sums.items()
             if min(files[a].own_tokens, files[b].own_tokens) >= LEAST_TOKENS and (files[a].of_this_class or files[b].of_this_class)]
    return sorted((pair for pair in found if pair.alike >= least),
                  key=lambda pair: (-round(pair.alike, 6), -pair.shared, pair.first.students, pair.second.students))


def common_runs(a: File, b: File) -> list[tuple[int, int, int]]:
    """What is alike in the own text of two files: (begin in a, begin in b, tokens), the longest first and none twice."""
    words = [[number_of(token.word) for token in file.tokens] for file in (a, b)]
    owns = [[False] * len(file.tokens) for file in (a, b)]
    for file, own in zip((a, b), owns):
        for begin, end in file.own:
            own[begin:end] = [True] * (end - begin)
    places: dict[int, list[int]] = defaultdict(list)
    for j, value in enumerate(hashes(words[1], RUN)):
        if all(owns[1][j:j + RUN]):
            places[value].append(j)
    found = []
    for i, value in enumerate(hashes(words[0], RUN)):
        if not all(owns[0][i:i + RUN]):
            continue
        for j in places.get(value, ())[:50]:
            if i and j and owns[0][i - 1] and owns[1][j - 1] and words[0][i - 1] == words[1][j - 1]:
                continue  # a part of one that began before
            length = RUN
            while i + length < len(words[0]) and j + length < len(words[1]) and owns[0][i + length] and owns[1][j + length] \
                    and words[0][i + length] == words[1][j + length]:
                length += 1
            found.append((i, j, length))
    used = [[False] * len(file.tokens) for file in (a, b)]
    kept = []
    for i, j, length in sorted(found, key=lambda run: (-run[2], run[0], run[1])):
        if not any(used[0][i:i + length]) and not any(used[1][j:j + length]):
            kept.append((i, j, length))
            used[0][i:i + length] = used[1][j:j + length] = [True] * length
    return kept


# ---- A class -------------------------------------------------------------------------------------

def files_of_lab(course: Path, lab: str, kernel: str, handed_in: list[tuple[str, str, bytes]]) -> list[File]:
    """handed_in: name, id and file. With the course's own solution, which lies in the repository."""
    common = handed_out(course, lab)
    files = [file_of(name, id, source, common) for name, id, source in handed_in]
    solution = course / "solutions" / lab / kernel
    if solution.is_file():
        files.append(file_of("the course's solution", "", solution.read_bytes(), common))
    return [file for file in distinct(files) if file.own]  # the starter has nothing of its own
