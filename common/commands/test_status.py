#!/usr/bin/env python3
"""make, make status and make diffNN: the file as it is now decides; nothing is built for it."""

import json
import resource
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import progress
import status
from course_copy import copy_course, run

KERNEL = "softmax_smem.cu"
RIGHT = {"outcome": "right", "date": "2026-01-02 03:04", "backend": "cpu", "checked": True, "passed": 248, "failed": 0, "not_run": 0}
WRONG = {**RIGHT, "outcome": "wrong", "passed": 240, "failed": 8, "not_run": 81}


class InACopy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = copy_course(Path(folder.name))
        cls.file = cls.copy / "labs/lab02_smem" / KERNEL
        cls.starter = cls.file.read_text()

    def setUp(self):
        self.file.write_text(self.starter)
        (self.copy / ".progress.json").unlink(missing_ok=True)

    def remember(self, **lab02):
        (self.copy / ".progress.json").write_text(json.dumps({"version": 1, "labs": {"lab02_smem": lab02}}))

    def ran(self, outcome):
        self.remember(runs={progress.hash_of(self.file): outcome})

    def line(self, command="status"):
        output = run(self.copy, "make", command).stdout
        return next(line for line in output.splitlines() if line.split()[:1] == ["lab02_smem"] or line.split()[:2] == ["->", "lab02_smem"])

    def test_states(self):
        self.assertIn("not tested yet", self.line())
        self.ran(WRONG)
        self.assertIn("8 of 248 cases wrong, 81 not run", self.line())
        self.remember(first_right="2026-01-01 01:02", runs={progress.hash_of(self.file): WRONG})
        self.assertIn("81 not run; was right on 2026-01-01 ", self.line())
        self.ran({"outcome": "does not compile", "date": "2026-01-02 03:04"})
        self.assertIn("does not compile", self.line())
        self.ran({**RIGHT, "checked": False})
        self.assertIn("right, without the checks and the moves", self.line())
        self.ran(RIGHT)
        self.assertRegex(self.line(), "  right  ")
        self.file.write_text(self.starter + "// one more line\n")
        self.assertIn("changed since it was right (2026-01-02 03:04)", self.line())
        self.assertNotIn(" right  ", self.line())
        self.file.write_text(self.starter)
        self.assertRegex(self.line(), "  right  ")

    def test_predictions_and_hints(self):
        table = {"neighbours_sectors": "4", "smem_row_bytes": "4000", "float4_loads": "15"}
        text = self.starter
        for name, value in table.items():
            text = text.replace(f'"{name}", rung::unknown', f'"{name}", {value}')
        self.file.write_text(text)
        self.remember(hints=3, predictions={
            "neighbours_sectors": {"text": "4", "outcome": "right", "at_first": True},
            "smem_row_bytes": {"text": "400", "outcome": "wrong", "at_first": False},
            "float4_loads": {"text": "15", "outcome": "wrong", "at_first": False}})
        self.assertIn("1 right, 1 wrong, 3 open, 1 not checked (1 at first)", self.line())
        self.assertIn("3 of 7", self.line())

    def test_counts_beside_the_solution(self):
        solution = {"load_requests": 128, "load_sectors": 2048, "store_requests": 128, "store_sectors": 2048}
        mine = {"load_requests": 512, "load_sectors": 6144, "store_requests": 128, "store_sectors": 2048}
        self.remember(counts={"tree f32": {"rows": 32, "cols": 512, "k": 0, "yours": mine, "solution": solution}})
        output = run(self.copy, "make", "status").stdout
        self.assertRegex(output, r"tree f32 +32 x 512 +12 \(4\) +4 = +31\.2 \(7\.81\) +7\.81 =\n")

    def test_first_screen(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run(self.copy, "make")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("-> lab01_naive", result.stdout)
        for command in ("make lab01", "make watch01", "make hint01", "make status", "make ladder", "make help"):
            self.assertIn(command, result.stdout)
        self.assertLess(len(result.stdout.splitlines()), 24, "it must fit a small terminal")
        self.assertFalse((self.copy / "build").exists(), "the first screen builds nothing")
        self.assertFalse((self.copy / ".progress.json").exists())
        # Processor time: what a loaded machine adds to the clock is no fault of the screen's.
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 0.3)

    def test_first_screen_without_python(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool in ("make", "bash", "dirname", "cat", "ls", "xargs", "basename", "tr", "nproc"):
                (Path(folder) / tool).symlink_to(shutil.which(tool))
            result = run(self.copy, "make", PATH=folder)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("make setup", result.stdout)

    def test_the_case_study_comes_after_the_ladder(self):
        right = lambda *words: {folder.name: {"runs": {progress.hash_of(next(folder.glob("*.cu"))): RIGHT}}
                                for word in words for folder in (self.copy / "labs").glob(f"lab{word}_*")}
        for done, following in ((("0[1-5]", "06", "06b"), "lab08_rms_norm"), (("0[1-5]", "06", "06b", "08", "08b", "08c"), "lab07_fusion")):
            (self.copy / ".progress.json").write_text(json.dumps({"version": 1, "labs": right(*done)}))
            self.assertIn(f"-> {following}", run(self.copy, "make").stdout)

    def test_the_next_lab(self):
        labs = {}
        for folder in sorted((self.copy / "labs").glob("lab[0-9]*"))[:2]:
            labs[folder.name] = {"runs": {progress.hash_of(next(folder.glob("*.cu"))): RIGHT}}
        wrong = {**WRONG, "first_failure": "online f32 / nan / nan-7x33"}
        kernel = self.copy / "labs/lab03_online/softmax_online.cu"
        labs["lab03_online"] = {"runs": {progress.hash_of(kernel): wrong}}
        (self.copy / ".progress.json").write_text(json.dumps({"version": 1, "labs": labs}))
        output = run(self.copy, "make").stdout
        self.assertIn("-> lab03_online", output)
        self.assertIn("first failure: online f32, nan-7x33\n      that case alone: make lab03 CASE=nan-7x33", output)
        self.assertIn("make lab03 ", output)
        self.assertIn("begin at labs/lab03_online/softmax_online.cu:", output)

    def test_an_unreadable_file_is_said_and_left_alone(self):
        (self.copy / ".progress.json").write_text("{ half a")
        result = run(self.copy, "make", "status")
        self.assertEqual(result.returncode, 0)
        self.assertIn(".progress.json: cannot be read", result.stdout)
        self.assertEqual((self.copy / ".progress.json").read_text(), "{ half a")

    def test_diff_only_when_right(self):
        result = run(self.copy, "make", "diff02")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("has not passed its tests", result.stdout)
        self.assertIn("make hint02", result.stdout)
        self.assertNotIn("STEP", result.stdout)
        self.ran(RIGHT)
        result = run(self.copy, "make", "diff02")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"\n-.*TODO 1")
        self.assertRegex(result.stdout, r"\n\+.*STEP 1")
        self.assertNotIn("\x1b", result.stdout)
        self.file.write_text(self.starter + "\n// changed\n")
        self.assertNotEqual(run(self.copy, "make", "diff02").returncode, 0)
        self.assertIn("STEP 1", run(self.copy, "make", "diff02", "ANYWAY=1").stdout)

    def test_diff_without_a_difference_and_without_a_solution(self):
        solution = self.copy / "solutions/lab02_smem" / KERNEL
        text = solution.read_text()
        self.file.write_text(text)
        self.assertIn("are the same", run(self.copy, "make", "diff02", "ANYWAY=1").stdout)
        solution.unlink()
        try:
            self.assertIn("is missing", run(self.copy, "make", "diff02", "ANYWAY=1").stdout)
        finally:
            solution.write_text(text)
        self.assertIn("there is no lab '77'", run(self.copy, "make", "diff77").stdout)


class Words(unittest.TestCase):
    def test_right_on_a_gpu(self):
        self.assertEqual(status.Lab.words({**RIGHT, "backend": "cuda", "checked": False}), "right, on a GPU")
        self.assertEqual(status.Lab.words({**RIGHT, "backend": "cuda"}), "right", "the checks were passed on the CPU")


if __name__ == "__main__":
    unittest.main()
