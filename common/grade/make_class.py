#!/usr/bin/env python3
"""Makes a class to measure the grader with: submissions like those that come in, from the course's own files.

    make_class.py FOLDER [NUMBER]      NUMBER submissions (200) in FOLDER, which must not exist

The same class every time. Of ten submissions four are complete, five stop at one of the labs, one is untouched. A lab that is
done is the solution with a line of the student's own, so that no two files are equal; one in six of them is a wrong kernel of the
lab's shelf (solutions/*/broken.toml). What is not done yet is the untouched starter.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(COURSE / "common/testing"), str(COURSE / "common")]
import broken  # noqa: E402
from course import labs as manifest  # noqa: E402


def main(argv: list[str]) -> int:
    if len(argv) not in (1, 2) or argv[0].startswith("-") or (len(argv) == 2 and not argv[1].isdigit()):
        print(__doc__, file=sys.stderr)
        return 2
    folder, number = Path(argv[0]), int(argv[1]) if len(argv) == 2 else 200
    if folder.exists():
        print(f"error: {folder} is there already", file=sys.stderr)
        return 2
    labs = manifest.load(COURSE)
    draw = random.Random(1)
    for student in range(number):
        kind = student % 10
        done = len(labs) if kind < 4 else 0 if kind == 9 else draw.randrange(1, len(labs))
        for i, lab in enumerate(labs):
            source = (COURSE / lab.starter).read_text()
            if i < done:
                wrong = list(broken.load(lab.name, COURSE))
                done_wrong = wrong and draw.randrange(6) == 0
                source = broken.kernel(lab.name, draw.choice(wrong), COURSE).text if done_wrong else \
                    (COURSE / lab.solution).read_text()
                source += f"\n// Handed in by student {student}.\n"
            place = folder / f"student-{student:03d}" / lab.starter
            place.parent.mkdir(parents=True)
            place.write_text(source)
    print(f"{number} submissions of {len(labs)} labs in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
