#!/usr/bin/env python3
"""make new-lab: what it creates holds together, and a student's way through it, from the untouched starter to what was gained."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "testing"), str(HERE.parent)]
import broken
import check_course
import new_lab
from course import labs
from course.sampling import in_turn
from course_copy import copy_course, run

NAME, KERNEL = "lab98_trial_run", "softmax_trial_run.cu"


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("labs", "solutions"):
            (self.root / part).mkdir()

    def refused(self, name, *said):
        with self.assertRaises(new_lab.Refused) as refused:
            new_lab.create(name, self.root)
        for part in said:
            self.assertIn(part, str(refused.exception))

    def test_bad_names(self):
        for name in ("", "thing", "lab1_thing", "lab10", "lab10_", "lab10_Thing", "lab10_a-b", "lab10_a b", "lab10_../x", "Lab08_thing",
                     "lab10_thing\n", "lab٠٨_thing", "lab10_" + "x" * 40):
            self.refused(name, "make new-lab NAME=lab10_thing")
        self.assertEqual([path for path in self.root.rglob("*") if path.is_file()], [])

    def test_nothing_is_overwritten(self):
        new_lab.create("lab10_thing", self.root)
        before = {path: path.read_text() for path in self.root.rglob("*") if path.is_file()}
        self.refused("lab10_thing", "labs/lab10_thing is there already", "next free number is 01")
        self.refused("lab10_other", "labs/lab10_thing is there already")
        shutil.rmtree(self.root / "labs/lab10_thing")
        self.refused("lab10_other", "solutions/lab10_thing is there already")
        for path, text in before.items():
            if path.exists():
                self.assertEqual(path.read_text(), text)

    def test_the_manifest_is_in_order(self):
        for number in (8, 3, 5):
            new_lab.create(f"lab{number:02d}_thing", self.root)
        self.assertEqual([lab.number for lab in labs.load(self.root)], ["03", "05", "08"])
        self.assertEqual(labs.problems(self.root), [])

    def test_nothing_is_left_of_a_failure(self):
        (self.root / "solutions").rmdir()
        self.refused("lab10_thing", "solutions/lab10_thing", "nothing was created")
        self.assertEqual(list((self.root / "labs").iterdir()), [])

    def test_every_wrong_kernel_can_be_made(self):
        for path in new_lab.create("lab10_thing", self.root):
            self.assertNotRegex((self.root / path).read_text(), r"@\w+", path)
        self.assertEqual(len(broken.load("lab10_thing", self.root)), 6)
        self.assertEqual(broken.problems("lab10_thing", self.root), [])


class ALabOfItsOwn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = copy_course(Path(folder.name), built=True)
        cls.created = run(cls.copy, "make", "new-lab", f"NAME={NAME}")
        cls.mine = cls.copy / "labs" / NAME / KERNEL
        cls.solution = cls.copy / "solutions" / NAME / KERNEL

    def lab(self, *arguments, **variables):
        return run(self.copy, "make", "lab98", *arguments, timeout=600, **variables)

    def status(self):
        return next(line for line in run(self.copy, "make", "status").stdout.splitlines() if line.startswith(NAME))

    def test_the_courses_own_check(self):
        self.assertEqual(self.created.returncode, 0, self.created.stdout)
        self.assertEqual(check_course.check(self.copy), [])

    def test_a_bad_name_from_the_command_line(self):
        for name in ("NAME=Lab98", "NAME=lab98_again", ""):
            result = run(self.copy, "make", "new-lab", *filter(None, [name]))
            self.assertNotEqual(result.returncode, 0)
            self.assertLessEqual(len(result.stdout.splitlines()), 3, result.stdout)

    def test_formatted(self):
        if not shutil.which("clang-format"):
            self.skipTest("clang-format is not installed")
        files = [str(path) for path in self.copy.rglob("*") if NAME in str(path) and path.suffix in (".cu", ".cpp") and "build" not in path.parts]
        self.assertEqual(len(files), 3)
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=self.copy, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_shelf_and_the_solution(self):
        result = run(self.copy, sys.executable, "common/testing/shelf.py", "--only", NAME, timeout=900)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("7 passed, 0 failed", result.stdout)

    @in_turn(2)
    def test_a_students_way(self):
        starter = self.mine.read_text()
        self.addCleanup(self.mine.write_text, starter)

        untouched = self.lab()
        self.assertNotEqual(untouched.returncode, 0)
        for said in (f"Next: edit labs/{NAME}/", "TODO 0", "TODO 1", "TODO 2", "not filled in yet: ", "never written"):
            self.assertIn(said, untouched.stdout)
        self.assertRegex(self.status(), r"\d+ of \d+ cases wrong.*  2 open +0 of 3")
        self.assertNotIn("has not changed", untouched.stdout)
        self.assertRegex(self.lab("VARIANT=first").stdout, r"The file has not changed since its last run \(.*: wrong\)\. Is it saved\?")

        # The solution's and another file's success is not the student's.
        other = self.copy / "other.cu"
        shutil.copy(self.solution, other)
        for option in ("SOLUTION=1", "FILE=other.cu"):
            self.assertEqual(self.lab(option, TESTS_ONLY="1").returncode, 0)
            self.assertRegex(self.status(), r"cases wrong.*  2 open")

        # Predictions by themselves, one wrong at first.
        predicted = starter.replace('"reads", rung::unknown', '"reads", 3').replace('"row_bytes", rung::unknown', '"row_bytes", 4000')
        self.mine.write_text(predicted)
        self.assertIn("too low by a factor of 3", self.lab("CASE=predict-*").stdout)
        self.assertRegex(self.status(), r"changed since the last test .*1 right, 1 wrong \(1 at first\)")
        self.mine.write_text(predicted.replace('"row_bytes", 4000', '"row_bytes", 12000'))
        self.assertEqual(self.lab("CASE=predict-*").returncode, 0)
        self.assertRegex(self.status(), r"2 right \(1 at first\)")
        run(self.copy, "make", "hint98")
        self.assertIn("1 of 3", self.status())

        # The next thing: the line that fails, then the TODO that is still open, and no filled one.
        line = "  for (int c = threadIdx.x; c <= cols; c += threads) max = fmaxf(max, x[c]);\n"
        self.mine.write_text(predicted.replace("  (void)x;\n  (void)cols;\n", line))
        after = self.lab().stdout.split("Next: edit ")[-1]
        number = self.mine.read_text().splitlines().index(line.rstrip()) + 1
        self.assertRegex(after, rf"\n  line {number} fails in normal-\w+ of first f32: for \(int c = threadIdx\.x; ")
        self.assertIn(", TODO 2: write the results", after)
        self.assertNotIn("TODO 1", after)
        self.assertNotIn("TODO 0", after)

        self.mine.write_text("#error not finished\n")
        self.assertIn("does not compile", self.lab().stdout)
        self.assertIn("does not compile", self.status())

        # Right, but read four times: every row's first pass once more.
        text = self.solution.read_text()
        loop = "  for (int c = threadIdx.x; c < cols; c += threads) max = fmaxf(max, x[c]);\n"
        self.assertEqual(text.count(loop), 1)
        four_times = loop.replace("max = fmaxf(max, x[c])", "max = fmaxf(max, fmaxf(x[c], x[cols - 1 - c]))")
        self.mine.write_text(text.replace(loop, four_times))
        self.assertIn("the move: every element is read at most three times", self.lab(TESTS_ONLY="1").stdout)
        self.assertRegex(run(self.copy, "make", "status").stdout, r"first f32 +32 x 512 +16 \(12\) ")

        self.mine.write_text(text)
        right = self.lab()
        self.assertEqual(right.returncode, 0, right.stdout)
        self.assertRegex(self.status(), r"  right +2 right \(1 at first\) +1 of 3")
        self.assertRegex(run(self.copy, "make", "status").stdout, r"first f32 +32 x 512 +12 = +4 = ")
        # Over the last lab before it that was measured for f32 on this machine or, if none was, on another.
        self.assertRegex(right.stdout, r"What your lab98 first f32 gained over the solution's lab0[36] \w+ f32")
        self.assertRegex(right.stdout, r"sector bytes per element: (12\.0 -> 16\.0, 1\.33|8\.00 -> 16\.0, 2\.00) times as many")
        self.assertIn("make diff98", right.stdout)
        self.assertIn("are the same", run(self.copy, "make", "diff98").stdout)

        # A change, and the change taken back.
        self.mine.write_text(text + "// one more line\n")
        self.assertIn("changed since it was right", self.status())
        self.mine.write_text(text)
        self.assertRegex(self.status(), r"  right  ")
        shutil.rmtree(self.copy / "build/hints")
        self.assertIn("1 of 3", self.status())
        self.assertFalse(re.search("error", right.stdout))


if __name__ == "__main__":
    unittest.main()
