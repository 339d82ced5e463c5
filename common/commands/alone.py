#!/usr/bin/env python3
"""make lab02 TODO=4: one TODO of a student's file, put into the solution in place of its own step, so that the lab's tests say
whether this part is right, whatever the others are.

    alone.py LAB FILE TODO OUT      writes OUT; lines keep their numbers and files for messages

The regions "// TODO 4: ... // END 4" and "// STEP 4: ... // END 4" have the same code around them in both (check_course.py).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import todos

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course.labs import number_of  # noqa: E402

ROOT = todos.ROOT


def region(text: str, opening: str, number: int) -> tuple[int, int] | None:
    """The lines of a region, from its opening to its END, counted from 0: [first, end). None if it is not there."""
    first = None
    for i, line in enumerate(text.splitlines()):
        if re.match(rf"\s*// {opening} {number}:", line):
            first = i
        elif first is not None and re.match(rf"\s*// END {number}\s*$", line):
            return first, i + 1
    return None


def spliced(file: str, text: str, solution_file: str, solution: str, number: int) -> str:
    """The solution with the region of the file. ValueError if one of them has none."""
    places = []
    for name, source, opening in ((file, text, "TODO"), (solution_file, solution, "STEP")):
        place = region(source, opening, number)
        if place is None:
            raise ValueError(f"{name} has no lines '// {opening} {number}: ...' and '// END {number}'")
        places.append(place)
    (begin, end), (from_, to) = places
    own, given = text.splitlines(), solution.splitlines()
    return "\n".join([f'#line 1 "{solution_file}"', *given[:from_], f'#line {begin + 1} "{file}"', *own[begin:end],
                      f'#line {to + 1} "{solution_file}"', *given[to:]]) + "\n"


def main(argv: list[str]) -> int:
    lab, file, number, out = argv
    try:
        path = ROOT / file
        text = path.read_text(encoding="utf-8", errors="replace")
        solution_file = f"solutions/{lab}/{next((ROOT / 'solutions' / lab).glob('*.cu')).name}"
        solution = (ROOT / solution_file).read_text(encoding="utf-8")
        numbers = [int(n) for n in re.findall(r"^\s*// STEP (\d+):", solution, re.MULTILINE) if int(n)]
        if number == "0":
            raise ValueError(f"TODO 0 are the predictions: make lab{number_of(lab)} CASE='predict-*'")
        if not number.isdigit() or int(number) not in numbers:
            raise ValueError(f"TODO={number}: it can be {', '.join(map(str, numbers))}, the TODOs of {lab}")
        if int(number) in todos.open_todos(lab, path):
            raise ValueError(f"TODO {number} in {file} is still as handed out: make hint{number_of(lab)} TODO={number} helps")
        made = spliced(file, text, solution_file, solution, int(number))
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        if not Path(out).is_file() or Path(out).read_text(encoding="utf-8") != made:  # make compiles what is newer
            Path(out).write_text(made, encoding="utf-8")
    except StopIteration:
        print(f"error: TODO={number} needs the solution, and solutions/{lab} is not there", file=sys.stderr)
        return 2
    except (ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
