#!/usr/bin/env python3
"""The syllabus speaks of the course as it is: its links, its wrong kernels with their verdicts, its moves and predictions."""

import os
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "common/testing"))
import broken  # noqa: E402
import shelf  # noqa: E402
from course import runs  # noqa: E402
TEXT = (ROOT / "theory/syllabus.md").read_text(encoding="utf-8")


def rows_of_kernels():
    """(lab, kernel, what shows it) of the tables of mistakes."""
    mistakes = TEXT.split("## Mistakes, and what shows them")[1].split("## Adding a lab")[0]
    for section in mistakes.split("\n### ")[1:]:
        lab, rest = section.split("\n", 1)
        for kernel, shown in re.findall(r"^\| `(\w+)` \| .+? \| (.+) \|$", rest, re.MULTILINE):
            yield lab, kernel, shown


class Syllabus(unittest.TestCase):
    def test_links(self):
        links = re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT)
        self.assertGreater(len(links), 10)
        for link in links:
            self.assertTrue((ROOT / "theory" / link).exists(), link)

    def test_every_mistake_is_on_the_shelf_with_its_verdict(self):
        rows = list(rows_of_kernels())
        self.assertGreater(len(rows), 30)
        for lab, kernel, shown in rows:
            with self.subTest(f"{lab}/{kernel}"):
                wrong = broken.kernel(lab, kernel, ROOT)
                verdicts = wrong.all("verdict") + wrong.all("move")
                self.assertTrue(any(f"`{verdict}`" in shown for verdict in verdicts), f"{verdicts} not in: {shown}")

    def test_every_count_is_counted(self):
        """`8 on 32 x 512, where 4 hold the bytes`: all of these numbers are in what the test says of the kernel."""
        os.chdir(ROOT)
        rows = [row for row in rows_of_kernels() if re.search(r" on \d+ x \d+", row[2])]
        self.assertGreaterEqual(len(rows), 4)
        self.assertEqual(shelf.build("build/cpu/worker", *(f"build/cpu/tests/{lab}" for lab, _, _ in rows)), "")
        for lab, kernel, shown in rows:
            with self.subTest(f"{lab}/{kernel}"):
                wrong = broken.kernel(lab, kernel)
                wrong.folder = "build/syllabus"  # other tests build the same kernels at the same time
                run = shelf.run_tests(lab, wrong.write(), "cpu", True, {"case": "move-*"})
                self.assertEqual(run.status, 1, run.output)
                said = " ".join(runs.first_failure(run.events, wrong.one("variant")))
                for number in re.findall(r"\d[\d,]*", shown.split(";")[0]):
                    self.assertRegex(said, rf"\b{number.rstrip(',')}\b")

    def test_files_in_the_commands(self):
        for file in re.findall(r"python3 (\S+)", TEXT):
            self.assertTrue((ROOT / file).is_file(), file)
        shown = re.findall(r"make [a-z]+(\d\d[b-z]?) BROKEN=(\w+)", TEXT)
        self.assertEqual(len(shown), 2)
        for number, kernel in shown:
            broken.kernel(next((ROOT / "labs").glob(f"lab{number}_*")).name, kernel, ROOT)

    def test_goals_are_seen_by_what_there_is(self):
        goals = TEXT.split("## The goals of each lab")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (lab\d\d[b-z]?) \| .+? \| (.+) \|$", goals, re.MULTILINE)
        self.assertGreater(len(rows), 8)
        cases = "".join(path.read_text() for path in sorted(ROOT.glob("common/ops/*/*.cpp")))
        of_many_labs = re.findall(r"^Move (\w+)\(.*\{\n  return Move\{(\"[\w-]+\")", (ROOT / "common/testing/moves.cpp").read_text(), re.MULTILINE)
        self.assertEqual(len(of_many_labs), 2)
        for lab, seen in rows:
            tests = next((ROOT / "labs").glob(f"{lab}_*/test.cpp")).read_text()
            tests += "".join(name for function, name in of_many_labs if f"{function}(" in tests)
            for name in re.findall(r"`([\w-]+)`", seen):
                self.assertTrue(f'"{name}"' in tests or f'"{name}"' in cases, f"{lab}: {name}")


if __name__ == "__main__":
    unittest.main()
