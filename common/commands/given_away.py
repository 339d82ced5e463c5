"""Finds what gives a TODO's answer away: a chapter, a handout, a starter or an early hint that holds the solution's lines.

Of every numbered region of a solution, two lines of code in a row, or the only one, may stand in the last hint for that TODO
and nowhere else. Comments, spaces and how a statement is wrapped do not count. Lines of braces alone are no lines of code.
"""

from __future__ import annotations

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


def problems(root: Path) -> list[str]:
    chapters = {str(path): path.read_text(encoding="utf-8") for path in sorted(root.glob("theory/*.md"))}
    found = []
    for lab in sorted(root.glob("labs/lab[0-9][0-9]*_*")):
        handout, hints = lab / "README.md", lab / "hints.md"
        if not handout.is_file() or not hints.is_file():
            continue  # which is said elsewhere
        pages = {**chapters, str(handout): handout.read_text(encoding="utf-8")}
        for solution in sorted((root / "solutions" / lab.name).glob("*.cu")):
            starter = lab / solution.name
            handed_out = {str(starter): starter.read_text(encoding="utf-8")} if starter.is_file() else {}
            given = "".join(statements(handed_out.get(str(starter), "")))
            for todo, lines in answers(solution.read_text(encoding="utf-8")).items():
                hidden = {f"{hints}, {name}": text for name, text in hints_but_the_last(hints.read_text(encoding="utf-8"), todo).items()}
                for name, text in {**pages, **hidden}.items():
                    said = "".join(statements(text))
                    found += [f"{name}: gives TODO {todo} of {lab.name} away: {line}" for line in lines if line in said and line not in given]
    return found
