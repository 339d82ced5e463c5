#!/usr/bin/env python3
"""What a failing run prints: the same failure of another element type in one line, and which TODOs to look at."""

import os
import unittest
from pathlib import Path

from shelf import build, run_tests

ROOT = Path(__file__).resolve().parents[2]


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chdir(ROOT)
        said = build("build/cpu/worker", "build/cpu/tests/lab02_smem", "build/cpu/tests/lab05_topk")
        if said:
            raise RuntimeError(said)

    def written(self, lab: str, file: Path, *edits: tuple[str, str]) -> Path:
        """A copy of a lab's file with some edits, below build/."""
        text = file.read_text()
        for old, new in edits:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        copy = Path("build/report") / lab / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        return copy

    def test_the_same_of_another_type_is_said_once(self):
        solution = Path("solutions/lab05_topk/softmax_topk.cu")
        file = self.written("lab05_topk", solution, ("cols, k) && k <= most_k;", "cols, k) && k > most_k;"))
        output = run_tests("lab05_topk", file, "cpu", False, {"case": "normal-7x33-k5"}).output
        self.assertEqual(output.count("returned cudaErrorInvalidValue for a shape that it must take"), 3, output)
        for dtype in ("f16", "bf16"):
            self.assertRegex(output, rf"\nonline {dtype} .*\n    as online f32: the same cases, with the same words\n")

    def test_a_line_of_given_code(self):
        solution = Path("solutions/lab02_smem/softmax_smem.cu")
        text = solution.read_text()
        loop = text[text.index("// STEP 1: "):text.index("// END 1")]
        file = self.written("lab02_smem", solution, (loop, "// TODO 1: nothing\n"))
        output = run_tests("lab02_smem", file, "cpu", True, {"case": "normal-7x33"}).output
        after = output.split("\nNext: edit ")[-1]
        self.assertRegex(after, r"\n  line \d+ fails in normal-7x33 of serial f32: for \(int c = 0; .*\n  It is given code: ")
        # Inside of a TODO it is not.
        file = self.written("lab02_smem", solution, (loop, "// TODO 1: nothing\n  row[threadIdx.x] = x[cols * gridDim.x];\n"))
        after = run_tests("lab02_smem", file, "cpu", True, {"case": "normal-7x33"}).output.split("\nNext: edit ")[-1]
        self.assertRegex(after, r"\n  line \d+ fails in normal-7x33 of serial f32: row\[threadIdx\.x\] = ")
        self.assertNotIn("It is given code", after)


if __name__ == "__main__":
    unittest.main()
