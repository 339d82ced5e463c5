#!/usr/bin/env python3
"""make hint02: the next hint of a lab, below those already seen; make hint02 TODO=4: the next of those for TODO 4.

    hint.py LAB [TODO]      which were seen is remembered in build/hints/LAB; RESET=1 in the environment starts again

A lab's hints.md has sections "## Hint 3 (TODO 1, 2)": which TODOs a hint is for.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import screen  # beside this file

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import labs  # noqa: E402
from course.labs import number_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^## Hint (\d+) \(TODO (\d+(?:, \d+)*)\)$", re.MULTILINE)


def hints_of(text: str) -> dict[int, tuple[set[int], str]]:
    """Number -> (the TODOs that it is for, its section)."""
    found = list(HEADING.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {int(match[1]): ({int(todo) for todo in match[2].split(", ")}, text[match.start():end].strip())
            for match, end in zip(found, ends)}


def main(argv: list[str]) -> int:
    lab, todo = argv[0], argv[1] if len(argv) > 1 else ""
    make = f"make hint{number_of(lab)}"
    hints = hints_of((ROOT / "labs" / lab / "hints.md").read_text(encoding="utf-8"))
    todos = sorted(set().union(*(each for each, _ in hints.values())))
    if todo and (not todo.isdigit() or int(todo) not in todos):
        extra = f" TODO 0 is answered by make lab{number_of(lab)} CASE='predict-*'." if todo == "0" else ""
        screen.say(f"error: TODO={todo}: it can be {', '.join(map(str, todos))}, the TODOs of {lab} that have hints.{extra}", sys.stderr)
        return 2
    asked = [number for number, (each, _) in hints.items() if not todo or int(todo) in each]

    remembered = ROOT / "build/hints" / lab
    try:
        remembered.parent.mkdir(parents=True, exist_ok=True)
        words = remembered.read_text().split() if remembered.is_file() and not os.environ.get("RESET") else []
        seen = {int(word) for word in words if word.isdigit() and int(word) in hints}
        unseen = [number for number in asked if number not in seen]
        seen |= set(unseen[:1])
        remembered.write_text(" ".join(map(str, sorted(seen))) + "\n")
    except OSError:
        print(f"error: cannot write to {ROOT / 'build'}: is this folder read-only, or another user's?", file=sys.stderr)
        return 2
    subprocess.run([sys.executable, str(ROOT / "common/commands/progress.py"), "hint", lab, str(len(seen))], check=False)

    for number in asked:
        if number in seen:
            screen.say(hints[number][1] + "\n")
    of_todo = f" for TODO {todo}" if todo else ""
    option = f" TODO={todo}" if todo else ""
    last = f"That was the only hint{of_todo}." if len(asked) == 1 else f"That was the last of {len(asked)} hints{of_todo}."
    if len(unseen) > 1:
        screen.say(f"{len(asked) - len(unseen) + 1} of {len(asked)} hints{of_todo}. {make}{option} shows the next; make lab{number_of(lab)} tests your file.")
    elif todo:
        screen.say(f"{last} {make} shows the others, make lab{number_of(lab)} tests your file.")
    else:
        screen.say(f"{last} The solution: {labs.lab(lab).solution}. {make} RESET=1 starts again.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
