#!/usr/bin/env python3
"""make lab02 TODO=4: one TODO is tested alone, whatever the others are."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import alone
import todos
from course_copy import copy_course, run


def solved(starter: str, solution: str, number: int) -> str:
    """The starter with one TODO filled as in the solution."""
    begin, end = alone.region(starter, "TODO", number)
    first, last = alone.region(solution, "STEP", number)
    own, given = starter.splitlines(), solution.splitlines()
    return "\n".join(own[:begin + 1] + given[first + 1:last] + own[end:]) + "\n"


class Spliced(unittest.TestCase):
    def test_a_solved_todo_gives_the_solution_in_every_lab(self):
        def code(text):
            return [line for line in text.splitlines() if not re.match(r"#line|\s*// (TODO|STEP) \d+:", line)]

        seen = 0
        for path in sorted(alone.ROOT.glob("solutions/lab[0-9][0-9]*_*/*.cu")):
            solution = path.read_text()
            starter_path = alone.ROOT / "labs" / path.parent.name / path.name
            for number in todos.regions(starter_path.read_text()):
                if number == 0:
                    continue
                made = alone.spliced("mine.cu", solved(starter_path.read_text(), solution, number), "solution.cu", solution, number)
                self.assertEqual(code(made), code(solution), f"{path} TODO {number}")
                seen += 1
        self.assertGreater(seen, 30)

    def test_lines_keep_their_files_and_numbers(self):
        made = alone.spliced("mine.cu", "a\n// TODO 1: x\nwrong\n// END 1\nb\n", "right.cu", "c\nd\n// STEP 1: y\ne\nf\n// END 1\ng\n", 1)
        self.assertEqual(made, '#line 1 "right.cu"\nc\nd\n#line 2 "mine.cu"\n// TODO 1: x\nwrong\n// END 1\n#line 7 "right.cu"\ng\n')
        with self.assertRaisesRegex(ValueError, "mine.cu has no lines '// TODO 2: "):
            alone.spliced("mine.cu", "a\n", "right.cu", "// STEP 2: y\n// END 2\n", 2)


class Command(unittest.TestCase):
    def test_right_and_wrong_parts(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_course(Path(folder), built=True)
            file = copy / "labs/lab01_naive/softmax_naive.cu"
            starter, solution = file.read_text(), (copy / "solutions/lab01_naive/softmax_naive.cu").read_text()
            one_case = ("CASE=normal-7x33", "VARIANT=per_row")

            done = run(copy, "make", "lab01", "TODO=6", *one_case)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("TODO 6 in labs/lab01_naive/softmax_naive.cu is still as handed out: make hint01 TODO=6", done.stdout)
            done = run(copy, "make", "lab01", "TODO=9")
            self.assertIn("TODO=9: it can be 1, 2, 3, 4, 5, 6, 7, 8, the TODOs of lab01_naive", done.stdout)

            text = solved(starter, solution, 6)
            file.write_text(text)
            done = run(copy, "make", "lab01", "TODO=6", *one_case)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("Right: TODO 6 of labs/lab01_naive/softmax_naive.cu passes", done.stdout)

            wrong = text.replace("y[c] = expf(x[c] - max) * scale;", "y[c] = expf(x[c] - max);", 1)
            self.assertNotEqual(wrong, text)
            file.write_text(wrong)
            done = run(copy, "make", "lab01", "TODO=6", *one_case)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Not right yet in TODO 6 of labs/lab01_naive/softmax_naive.cu", done.stdout)
            self.assertIn("make lab01 TODO=6 VARIANT=per_row CASE=normal-7x33", done.stdout)
            self.assertNotRegex(done.stdout, r"line \d+, TODO [1-57-9]:", "the others are not what was asked for")
            self.assertFalse((copy / ".progress.json").exists(), "nothing of it is recorded")


if __name__ == "__main__":
    unittest.main()
