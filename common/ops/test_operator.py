#!/usr/bin/env python3
"""A new operator, put into a copy of the course: nothing but its folder, two lines of operators.h and its lab says what it is, and every
command takes it."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "common/commands")]
from course.sampling import left_to_rest  # noqa: E402
from course_copy import copy_course, run  # noqa: E402

LAB = "lab97_row_sum"
ENTRY = f'''
[[lab]]
name = "{LAB}"
kernel = "row_sum.cu"
operator = "row_sum"
variants = [
  {{ name = "tree", types = ["f32"] }},
]
'''


def add(course: Path) -> None:
    given = course / "common/ops/testdata/row_sum"
    for source, target in (("arguments.h", "common/ops/row_sum"), ("judge.cpp", "common/ops/row_sum"), ("test.cpp", f"labs/{LAB}"),
                           ("row_sum.cu", f"labs/{LAB}"), ("row_sum.cu", f"solutions/{LAB}"), ("broken.toml", f"solutions/{LAB}")):
        (course / target).mkdir(exist_ok=True)
        shutil.copy(given / source, course / target)
    operators = course / "common/ops/operators.h"
    text = operators.read_text()
    for old, new in (('#include "swap_ffn/arguments.h"\n', '#include "swap_ffn/arguments.h"\n#include "row_sum/arguments.h"\n'),
                     ("each(swap_ffn)", "each(swap_ffn) each(row_sum)")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    operators.write_text(text)
    with (course / "labs/labs.toml").open("a") as manifest:
        manifest.write(ENTRY)


class RowSum(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = copy_course(Path(folder.name), built=True)
        add(cls.copy)

    def made(self, *arguments, **variables):
        return run(self.copy, "make", *arguments, timeout=900, **variables)

    @left_to_rest
    def test_its_lab(self):
        done = self.made("lab97", "SOLUTION=1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\n97 +tree +f32 +4\.\d")  # bytes per element, and a predicted time
        points = json.loads(next((self.copy / "plots/local").glob("*.json")).read_text())["points"]
        mine = [point for point in points if point["lab"] == LAB]
        self.assertEqual([point["op"] for point in mine], ["row_sum"] * len(mine))
        rows, cols = mine[0]["rows"], mine[0]["cols"]
        self.assertEqual(mine[0]["nominal_bytes"], 4 * rows * cols + 4 * rows)
        self.assertEqual(mine[0]["nominal_flops"], rows * cols)

    @left_to_rest
    def test_its_wrong_kernels(self):
        done = run(self.copy, sys.executable, "common/testing/shelf.py", "--only", LAB, timeout=900)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("6 passed, 0 failed", done.stdout)

    @left_to_rest
    def test_its_profile(self):
        done = self.made("profile97", "SOLUTION=1", "SHAPE=64x1024")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("mine += x[c]", done.stdout)

    def test_the_operator_stands_nowhere_else(self):
        words = r"row_sum_operator|Op::row_sum|each\(row_sum\)|row_sum/|\"row_sum\""  # lab 01 has a function of this name
        named = subprocess.run(["grep", "-rlE", words, "common", "labs", "plots", "Makefile"], cwd=self.copy, stdout=subprocess.PIPE, text=True)
        places = {name for name in named.stdout.split() if not name.startswith(("common/ops/testdata/", "common/ops/README", "common/ops/test_"))
                  and "/local/" not in name and not name.endswith(".pyc")}
        self.assertEqual(places, {"common/ops/operators.h", "common/ops/row_sum/arguments.h", "common/ops/row_sum/judge.cpp", "labs/labs.toml"})


if __name__ == "__main__":
    unittest.main()
