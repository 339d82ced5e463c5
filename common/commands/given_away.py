"""Finds what gives a TODO's answer away: a chapter, a handout, a starter, a header or an early hint that holds the solution's lines.

Of every numbered region of a solution, two lines of code in a row, or the only one, may stand in the last hint for that TODO
and nowhere else. Comments, spaces and how a statement is wrapped do not count. Lines of braces alone are no lines of code.

Headers for rungs are given code, and what they have in common with a TODO is often meant as a model. They give it away if they hold
half of its pairs. Only those count that a student has been sent to: that the pages and the starters of this lab and of the labs before
it name, and what these include. What a later lab is given may answer an earlier one: lab 06b's keys.h has lab 05's make_key.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from hint import hints_of
from todos import regions

# Shorter than this, a statement is what anybody would write: "return value;".
SHORTEST = 16


def statements(code: str) -> list[str]:
    """The statements of some text, without comments and spaces: cut at ';', '{' and '}' outside of parentheses."""
    code = re.sub(r"//.*|#pragma.*", "", code)
    code = re.sub(r"\s+", "", code)
    found, begun, depth = [], 0, 0
    for at, letter in enumerate(code):
        depth += (letter in "([") - (letter in ")]")
        if letter in ";{}" and depth <= 0:
            found.append(code[begun:at])
            begun, depth = at + 1, 0
    return [each for each in found if each]


@functools.lru_cache(maxsize=None)  # chapters are looked at for each TODO
def code_in(text: str) -> str:
    return "".join(statements(text))


def answers(solution: str) -> dict[int, list[str]]:
    """TODO number -> what must not stand elsewhere: each pair of neighbouring statements, or the only one, as one string."""
    found: dict[int, list[str]] = {}
    for number, (_, code) in regions(solution.replace("// STEP ", "// TODO "), keep_lines=True).items():
        lines = statements(code)
        pairs = [a + b for a, b in zip(lines, lines[1:])] or lines
        if number:
            found[number] = [pair for pair in pairs if len(pair) >= SHORTEST]
    return found


def hints_but_the_last(text: str, todo: int) -> dict[str, str]:
    """Name -> text of a lab's hints, without the last of those for this TODO."""
    hints = hints_of(text)
    last = max((number for number, (todos, _) in hints.items() if todo in todos), default=0)
    return {f"hint {number}": text for number, (_, text) in hints.items() if number != last}


def headers_of(root: Path, text: str) -> set[Path]:
    """The headers that some text names or includes, from the root or from common/rung, and those that these include."""
    found: set[Path] = set()
    waiting = re.findall(r"[\w./]+\.h\b", text)
    while waiting:
        name = waiting.pop().removeprefix("../../")
        for folder in (root, root / "common/rung", root / "common/rung/limit", root / "common/rung/fusion"):
            path = folder / name
            if path.is_file() and path not in found:
                found.add(path)
                waiting += re.findall(r'^#include "([\w./]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return found


def problems(root: Path) -> list[str]:
    chapters = {str(path): path.read_text(encoding="utf-8") for path in sorted(root.glob("theory/*.md"))}
    headers: set[Path] = set()  # that a student has seen by then
    found = []
    for lab in sorted(root.glob("labs/lab[0-9][0-9]*_*")):
        handout, hints = lab / "README.md", lab / "hints.md"
        if not handout.is_file() or not hints.is_file():
            continue  # which is said elsewhere
        for page in (handout, hints, *lab.glob("*.cu")):
            headers |= headers_of(root, page.read_text(encoding="utf-8"))
        code = {str(path): code_in(path.read_text(encoding="utf-8")) for path in sorted(headers)}
        pages = {**chapters, str(handout): handout.read_text(encoding="utf-8")}
        for solution in sorted((root / "solutions" / lab.name).glob("*.cu")):
            starter = lab / solution.name
            handed_out = {str(starter): starter.read_text(encoding="utf-8")} if starter.is_file() else {}
            given = code_in(handed_out.get(str(starter), ""))
            for todo, lines in answers(solution.read_text(encoding="utf-8")).items():
                hidden = {f"{hints}, {name}": text for name, text in hints_but_the_last(hints.read_text(encoding="utf-8"), todo).items()}
                for name, text in {**pages, **hidden}.items():
                    said = code_in(text)
                    found += [f"{name}: gives TODO {todo} of {lab.name} away: {line}" for line in lines if line in said and line not in given]
                for name, said in code.items():
                    there = [line for line in lines if line in said and line not in given]
                    if there and 2 * len(there) >= len(lines):
                        found += [f"{name}: gives TODO {todo} of {lab.name} away: {len(there)} of its {len(lines)} pairs of lines"]
    return found
