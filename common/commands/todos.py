#!/usr/bin/env python3
"""Which TODOs of a lab's file are still as handed out.

    todos.py open LAB FILE    prints the numbers of their lines: "14 62 102"
    todos.py note             writes labs/handed_out.json out of the starters; for those who change one

labs/handed_out.json has a fingerprint of every region "// TODO n: ... // END n" of every starter; the file that is handed out
is the one that is edited, so that nothing else remembers it. Comments and spaces do not count. TODO 0, the predictions, is
open as long as one of them is rung::unknown. `make test` holds the fingerprints against the starters (check_course.py).
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HANDED_OUT = "labs/handed_out.json"


def regions(text: str, keep_lines: bool = False) -> dict[int, tuple[int, str]]:
    """TODO number -> (line of the TODO, the code of its region, without spaces unless lines are kept). A region without its END
    is left out."""
    found: dict[int, tuple[int, str]] = {}
    begun: tuple[int, int] | None = None
    code: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if start := re.match(r"\s*// TODO (\d+):", line):
            begun, code = (int(start[1]), number), []
        elif (end := re.match(r"\s*// END (\d+)\s*$", line)) and begun and int(end[1]) == begun[0]:
            found[begun[0]] = (begun[1], "\n".join(code) if keep_lines else "".join("".join(code).split()))
            begun = None
        elif begun:
            code.append(re.sub(r"//.*", "", line))
    return found


def fingerprints(text: str) -> dict[str, str]:
    return {str(todo): hashlib.sha256(code.encode()).hexdigest()[:16] for todo, (_, code) in regions(text).items() if todo}


def of_starters(root: Path = ROOT) -> dict[str, dict[str, str]]:
    return {path.parent.name: fingerprints(path.read_text(encoding="utf-8")) for path in sorted(root.glob("labs/lab[0-9][0-9]*_*/*.cu"))}


def handed_out(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """What is noted of the starters; nothing where the note is missing or damaged."""
    try:
        noted = json.loads((root / HANDED_OUT).read_text(encoding="utf-8"))
        return {lab: dict(todos) for lab, todos in noted.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def open_todos(lab: str, file: Path, root: Path = ROOT) -> dict[int, int]:
    """TODO number -> its line, of those that are as handed out."""
    text = file.read_text(encoding="utf-8", errors="replace")
    noted, now = handed_out(root).get(lab, {}), fingerprints(text)
    return {todo: line for todo, (line, code) in regions(text).items()
            if ("rung::unknown" in code if todo == 0 else now[str(todo)] == noted.get(str(todo)))}


def note(root: Path = ROOT, lab: str = "") -> None:
    """Of every lab, or of one: the others may have been edited."""
    noted = handed_out(root) | {lab: of_starters(root)[lab]} if lab else of_starters(root)
    (root / HANDED_OUT).write_text(json.dumps(dict(sorted(noted.items())), indent=1) + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    if argv == ["note"]:
        note()
        return 0
    if len(argv) != 3 or argv[0] != "open":
        print(__doc__, file=sys.stderr)
        return 2
    print(*open_todos(argv[1], Path(argv[2])).values())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
