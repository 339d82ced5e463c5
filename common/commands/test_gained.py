#!/usr/bin/env python3
"""What a lab gained: with which rung it is compared, whose that is, and what is said of time on a CPU. The points are made up."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gained

LABS = {"lab01_naive": [("per_element", 64), ("per_row", 64)], "lab02_smem": [("serial", 8), ("tree", 8)]}


def point(source, lab, variant, asked, microseconds, op="softmax", dtype="f32", k=0):
    return {"source": source, "lab": lab, "variant": variant, "op": op, "dtype": dtype, "input": "normal", "rows": 1, "cols": 4096, "k": k,
            "seconds": microseconds * 1e-6, "l1_bytes": asked * 4096, "footprint_bytes": 8 * 4096, "counted_rows": 1}


def points(source, labs, scale=1.0):
    return [point(source, lab, variant, asked, scale * 4096 * asked) for lab in labs for variant, asked in LABS[lab]]


def said(here, elsewhere=None, lab="lab02_smem", backend="cuda"):
    others = {name: {"machine": "NVIDIA X", "backend": "cuda", "points": p} for name, p in (elsewhere or {}).items()}
    return "\n".join(gained.gained(lab, {"machine": "NVIDIA Y", "backend": backend, "points": here}, others))


class Gained(unittest.TestCase):
    def test_over_ones_own_lab_before(self):
        text = said(points("student", LABS) + points("solution", LABS, 0.5))
        self.assertIn("What your lab02 tree f32 gained over your lab01 per_row f32:", text)
        self.assertIn("per element: 64.0 -> 8.00, 8.00 times fewer", text)

    def test_over_the_solution_where_one_has_nothing(self):
        text = said(points("student", ["lab02_smem"]) + points("solution", LABS, 0.5))
        self.assertIn("gained over the solution's lab01 per_row f32:", text)
        self.assertIn("64.0 -> 8.00", text)

    def test_times_are_compared_within_one_run_only(self):
        """Whatever else was measured: an earlier lab of one's own, the solutions, here or on a machine of the same name."""
        labs = {"lab01_naive": LABS["lab01_naive"], "lab02_smem": [("serial", 16), ("tree", 8)]}
        mine = [point("student", lab, name, asked, 4096 * asked) for lab in labs for name, asked in labs[lab]]
        text = said(mine + points("solution", LABS, 0.5), {"x.json": points("solution", LABS, 3.0)})
        self.assertEqual(text.count("time per element"), 1, text)
        self.assertIn("In this run, within the lab, serial -> tree:\n  time per element: 16.0 us -> 8.00 us, 2.00 times faster", text)
        self.assertNotIn("this machine", text)

    def test_on_a_cpu_a_gpus_step_is_shown(self):
        text = said(points("student", LABS, 2.0), {"x.json": points("solution", LABS)}, backend="cpu")
        self.assertIn("does not rank rungs", text)
        self.assertIn("The solutions' lab01 per_row -> 02 tree on an NVIDIA X (x.json):", text)
        self.assertIn("64.0 us -> 8.00 us", text)

    def test_a_prediction_is_called_one(self):
        text = said(points("student", LABS, 2.0), {"x.json": points("solution", LABS)}, backend="predicted")
        self.assertNotIn("In this run", text)
        self.assertIn("The solutions' lab01 per_row -> 02 tree on an NVIDIA X (x.json):", text)

    def test_predicted_bytes_and_times_are_compared_with_the_same_rung(self):
        text = said(points("student", LABS, 2.0), backend="predicted")
        self.assertIn("gained over your lab01 per_row f32, as predicted for an NVIDIA Y:\n", text)
        self.assertIn("per element: 64.0 -> 8.00, 8.00 times fewer\n  time per element: 128 us -> 16.0 us, 8.00 times faster", text)
        self.assertNotIn("within the lab", text)

    def test_a_rung_whose_time_is_not_predicted_here_is_compared_by_its_bytes_alone(self):
        text = said(points("student", ["lab02_smem"], 2.0), {"x.json": points("solution", LABS)}, backend="predicted")
        self.assertIn("gained over the solution's lab01 per_row f32:\n", text)
        self.assertIn("Predicted for an NVIDIA Y, within the lab, serial -> tree:", text)

    def test_the_first_lab_is_compared_with_itself(self):
        self.assertIn("What your lab01 per_row f32 gained over your lab01 per_element f32", said(points("student", LABS), lab="lab01_naive"))

    def test_top_k_is_another_job(self):
        mine = points("student", LABS) + [point("student", "lab05_topk", name, asked, asked, "softmax_topk", k=50)
                                          for name, asked in (("three_pass", 12), ("online", 4))]
        text = said(mine, lab="lab05_topk")
        self.assertIn("your lab05 online f32 gained over your lab05 three_pass f32", text)
        self.assertIn("12.0 -> 4.00, 3.00 times fewer", text)

    def test_nothing_to_compare_with(self):
        self.assertEqual(said([point("student", "lab01_naive", "per_row", 64, 1)], lab="lab01_naive"), "")
        self.assertEqual(said(points("solution", LABS)), "")

    def test_slower_is_said(self):
        mine = [point("student", "lab02_smem", name, asked, 4096 * asked) for name, asked in (("serial", 64), ("tree", 128))]
        self.assertIn("2.00 times as many", said(mine))
        self.assertIn("2.00 times slower", said(mine))


class Next(unittest.TestCase):
    def test_every_labs_next_lab_asks(self):
        labs = [lab for lab in gained.labs.reading_order() if isinstance(lab, gained.labs.Lab)]
        for lab, following in zip(labs, labs[1:]):
            text = "\n".join(gained.what_is_next(lab.name))
            self.assertIn(f"make diff{lab.number}", text)
            self.assertRegex(text, r"It begins with a question\. `\w+`: .{20}")
            self.assertIn(f"next: labs/{following.name}/README.md", text)
            self.assertRegex(gained.last_word(lab), rf"(?i)lab {following.number}|{following.name}")
        self.assertIn(f"next: {labs[-1].next}", gained.what_is_next(labs[-1].name))


if __name__ == "__main__":
    unittest.main()
