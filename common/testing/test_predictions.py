#!/usr/bin/env python3
"""Predict first: what the labs say to numbers that are not filled in, wrong and right, and to files that predict nothing.

The numbers are held against a count and nothing else: with another kernel counted, the same number is wrong.
"""

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

import broken
from course import labs
from course.sampling import has_list, left_to_rest, sampled
from shelf import build, run_tests

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common/commands"))
import todos  # noqa: E402
from check_course import predictions  # noqa: E402

FILES = {lab.name: lab.solution for lab in labs.load()}
LABS = [lab for lab, file in FILES.items() if predictions(ROOT / file)]
LAB02 = Path("solutions/lab02_smem/softmax_smem.cu")

# A file without a working kernel: predictions must not need one.
NO_KERNEL = """\
#include "rung.h"
%s
cudaError_t tree(const float*, float*, int, int, cudaStream_t) { return cudaErrorNotSupported; }
RUNG_EXPORT(rung::softmax("tree", tree))
"""
RIGHT = {"neighbours_sectors": "4", "smem_row_bytes": "4000", "float4_loads": "16", "tree_barriers": "20"}


def kernel_of(folder, lab):
    return Path(folder, lab, FILES[lab].name)


def counted(file):
    return f"build/cpu/checked/{file.with_suffix('.so')}"


def table(values):
    return "RUNG_PREDICT(" + ", ".join('{"%s", %s}' % pair for pair in values.items()) + ")"


class Predictions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chdir(ROOT)
        said = build("build/cpu/worker", *(f"build/cpu/tests/{lab}" for lab in LABS),
                     *(counted(kernel_of("solutions", lab)) for lab in LABS))
        if said:
            raise RuntimeError(said)
        Path("build").mkdir(exist_ok=True)
        cls.folder = tempfile.TemporaryDirectory(dir="build", prefix="predictions-")
        cls.addClassCleanup(cls.folder.cleanup)

    def run_lab(self, lab, file, case="predict-*", solution=None):
        solution = counted(kernel_of("solutions", lab)) if solution is None else solution
        open_todos = list(todos.open_todos(lab, ROOT / file).values())  # as common/commands/lab.sh has them
        run = run_tests(lab, file, "cpu", False, {"case": case, "solution": solution, "open_todos": open_todos})
        return run.status, run.output

    def predicting(self, source, **options):
        """Lab 02 on a file with this table of predictions."""
        file = Path(os.path.relpath(self.folder.name, ROOT)) / f"{self.id().rsplit('.', 1)[1]}.cu"
        file.write_text(NO_KERNEL % source)
        Path(f"build/cpu/{file.with_suffix('.so')}").unlink(missing_ok=True)
        return self.run_lab("lab02_smem", file, **options)

    def test_the_labs_have_predictions(self):
        self.assertGreaterEqual(len(LABS), 5, LABS)

    @left_to_rest
    def test_every_solution_predicts_what_is_counted(self):
        """In a sample the check "labNN: solution" of common/commands/test.sh says it, with all other cases."""
        for lab in LABS:
            with self.subTest(lab):
                file = kernel_of("solutions", lab)
                status, output = self.run_lab(lab, file)
                self.assertEqual(status, 0, output)
                self.assertTrue(output.endswith(f"\n{len(predictions(file))} passed, 0 failed\n"), output)

    @has_list
    def test_an_untouched_starter_is_asked_first(self):
        for lab in sampled(LABS, 2, "untouched starters"):
            with self.subTest(lab):
                file = kernel_of("labs", lab)
                status, output = self.run_lab(lab, file, case="")
                self.assertEqual(status, 1, output)
                first = re.search(r"^\S.*\d cases? .*$", output, re.MULTILINE)
                self.assertRegex(first[0], r"^predictions +predict +\d cases +FAIL ")
                self.assertEqual(output.count("not filled in yet: "), len(predictions(file)), output)
                self.assertIn("TODO 0: predict before you write code", output)

    def test_names_are_of_one_lab(self):
        names = [name for lab in LABS for name in predictions(kernel_of("solutions", lab))]
        self.assertEqual(len(names), len(set(names)), names)

    def test_right_numbers_pass_without_a_kernel(self):
        status, output = self.predicting(table(RIGHT))
        self.assertEqual(status, 0, output)
        self.assertIn("4 passed, 0 failed", output)

    def test_a_wrong_number_is_told_how_far_off_it_is_and_the_way(self):
        status, output = self.predicting(table({**RIGHT, "neighbours_sectors": "32", "smem_row_bytes": "3 * 4000"}))
        self.assertEqual(status, 1, output)
        self.assertIn("predicted 32, too high by a factor of 8 (tree f32 of the solution, 8 x 1024)\n", output)
        self.assertIn("predicted 12,000, too high by a factor of 3 (tree f32", output)
        self.assertEqual(output.count("The question: "), 2, output)
        self.assertEqual(output.count("How to get it: "), 2, output)
        page = (ROOT / "theory/messages.md").read_text()
        example = output.split("    predict-smem-row-bytes\n")[0].split("    predict-neighbours-sectors\n")[1]
        self.assertIn("\n".join(line.removeprefix("    ") for line in example.splitlines()), page)
        self.assertIn("2 passed, 2 failed", output)

    def test_absurd_numbers(self):
        absurd = {"neighbours_sectors": "1e300", "smem_row_bytes": "-4000", "float4_loads": "1 / 0.0", "tree_barriers": "20.5"}
        status, output = self.predicting(table(absurd))
        self.assertEqual(status, 1, output)
        for said in ("1e+300, too high (", "-4000, too low (", "inf, too high (", "20.5, too high ("):
            self.assertIn("predicted " + said, output)
        self.assertIn("0 passed, 4 failed", output)

    def test_some_filled_in_some_left_out(self):
        status, output = self.predicting(table({"neighbours_sectors": "4", "smem_row_bytes": "rung::unknown", "float4_loads": "16"}))
        self.assertEqual(status, 1, output)
        self.assertIn("not filled in yet: tree f32: A row of 1000 columns", output)
        self.assertIn("does not predict tree_barriers: is it in RUNG_PREDICT, by this name?", output)
        self.assertIn("2 passed, 2 failed", output)

    def test_a_time_is_held_against_the_measurement_and_need_only_be_near(self):
        """2 counts as right, in both directions; the measurement is the recorded one."""
        measured = next(point["seconds"] * 1e6 for point in json.loads((ROOT / "plots/results/nvidia-h200.json").read_text())["points"]
                        if (point["lab"], point["variant"], point["rows"], point["cols"]) == ("lab02_smem", "tree", 4096, 4096))
        for factor, right in ((0.51, True), (1.0, True), (1.96, True), (0.49, False), (2.04, False)):
            with self.subTest(factor):
                status, output = self.predicting(table({**RIGHT, "tree_us": f"{measured * factor:.3f}"}), case="predict-tree-us")
                self.assertEqual(status, 0 if right else 1, output)
                if not right:
                    self.assertIn(f"{'too high' if factor > 1 else 'too low'} by more than a factor of 2 for what was measured on an NVIDIA H200\n", output)
                    self.assertNotIn(f"{measured:.3g}", output)
        status, output = self.predicting(table({**RIGHT, "tree_us": "-1"}), case="predict-tree-us")
        self.assertEqual(status, 1, output)

    def test_what_limits_a_kernel_has_a_name_for_an_answer(self):
        """Held against the model's word on the recorded point."""
        model = next(point["predicted"]["limit"] for point in json.loads((ROOT / "plots/results/predicted-nvidia-h200.json").read_text())["points"]
                     if (point["lab"], point["variant"], point["rows"], point["cols"]) == ("lab02_smem", "serial", 4096, 4096))
        status, output = self.predicting(table({**RIGHT, "serial_limit": f"rung::limit::{model}"}), case="predict-serial-limit")
        self.assertEqual(status, 0, output)
        status, output = self.predicting(table({**RIGHT, "serial_limit": "rung::limit::mufu"}), case="predict-serial-limit")
        self.assertEqual(status, 1, output)
        self.assertIn("predicted the unit for exponentials; by the model of an NVIDIA H200 it is something else\n", output)
        self.assertIn("How to get it: ", output)
        status, output = self.predicting(table({**RIGHT, "serial_limit": "99"}), case="predict-serial-limit")
        self.assertIn("predicted 99, which is none of rung::limit::dram, l2, lsu, ", output)

    def test_one_case_alone(self):
        status, output = self.predicting(table({**RIGHT, "float4_loads": "15"}), case="predict-smem-row-bytes")
        self.assertEqual(status, 0, output)
        self.assertIn("1 passed, 0 failed", output)

    def test_a_file_that_predicts_nothing(self):
        status, output = self.predicting("", case="normal-7x33")
        self.assertNotIn("predict", output.replace("predictions-", "").replace("predicts_nothing", ""))
        status, output = self.predicting("")
        self.assertEqual(status, 2, output)
        self.assertRegex(output, r"\.cu predicts nothing of lab02_smem \(RUNG_PREDICT\)")

    def test_predictions_of_another_lab_are_not_asked_for(self):
        status, output = self.run_lab("lab03_online", LAB02)
        self.assertEqual(status, 2, output)
        self.assertIn("predicts nothing of lab03_online", output)

    def test_without_a_solution(self):
        status, output = self.predicting(table(RIGHT), solution="")
        self.assertEqual(status, 2, output)
        self.assertIn("predictions are counted on the solution, which is not there", output)
        status, output = self.predicting(table(RIGHT), solution="build/missing.so")
        self.assertEqual(status, 1, output)
        self.assertIn("cannot be checked on tree f32 of the solution: cannot read build/missing.so", output)

    def test_what_is_right_comes_from_the_count(self):
        uncoalesced = broken.write("lab02_smem", "uncoalesced")
        self.assertEqual(build(counted(uncoalesced)), "")
        status, output = self.predicting(table(RIGHT), case="predict-neighbours-sectors", solution=counted(uncoalesced))
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"predicted 4, too low by a factor of \d+ \(")

    def test_a_solution_of_another_lab_has_nothing_to_count(self):
        other = counted(kernel_of("solutions", "lab01_naive"))
        status, output = self.predicting(table(RIGHT), case="predict-tree-barriers", solution=other)
        self.assertEqual(status, 1, output)
        self.assertIn("cannot be checked on tree f32 of the solution: it has no variant tree f32", output)


if __name__ == "__main__":
    unittest.main()
