#!/usr/bin/env python3
"""The climb: every rung has one row at all shapes, and what a lab bought is a ratio of its best to the best before it."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import climb

RESULTS = Path(__file__).resolve().parent / "results/nvidia-h200.json"


def point(lab, variant, cols, us, op="softmax", k=0, dtype="f32"):
    return {"source": "solution", "lab": lab, "variant": variant, "op": op, "dtype": dtype, "input": "normal", "rows": 100, "cols": cols, "k": k,
            "seconds": us * 1e-6, "nominal_bytes": 800 * cols, "nominal_flops": 500 * cols, "note": ""}


TABLE = {"machine": "NVIDIA X", "date": "2026-01-01", "backend": "cuda", "roofs": {"copy_gbs": 4000},
         "points": [point("lab01_a", "slow", 600, 100), point("lab01_a", "slow", 4096, 1000), point("lab01_a", "less", 600, 50),
                    point("lab02_b", "quick", 600, 10), point("lab02_b", "quick", 4096, 500),
                    point("lab05_k", "first", 600, 40, "softmax_topk", 5), point("lab05_k", "second", 600, 20, "softmax_topk", 5),
                    point("lab05_k", "first", 4096, 40, "softmax_topk", 50)]}


class Climb(unittest.TestCase):
    def test_a_rung_has_one_row_whatever_its_k(self):
        rungs = climb.order(climb.ladders(TABLE))
        self.assertEqual([rung["variant"] for rung in rungs], ["slow", "less", "quick", "first", "second"])

    def test_what_a_lab_bought(self):
        by_shape = climb.ladders(TABLE)
        narrow, wide = by_shape["normal", 600], by_shape["normal", 4096]
        self.assertAlmostEqual(climb.bought(narrow, "lab01_a"), 2)   # its own first rung
        self.assertAlmostEqual(climb.bought(narrow, "lab02_b"), 5)   # the best before it, not the first
        self.assertAlmostEqual(climb.bought(wide, "lab02_b"), 2)
        self.assertAlmostEqual(climb.bought(narrow, "lab05_k"), 2)   # no lab before it has the operator
        self.assertIsNone(climb.bought(wide, "lab09_none"))

    def test_every_recorded_point_is_drawn_once(self):
        table = json.loads(RESULTS.read_text())
        figure = climb.draw(table)
        panels = figure.axes[:-1]
        self.assertEqual(len(panels), len(climb.shapes_of(table)))
        drawn = sum(len(axes.collections) for axes in panels)
        self.assertEqual(drawn, sum(len(points) for points in climb.ladders(table).values()))
        said = " ".join(text.get_text() for text in figure.axes[-1].texts)
        self.assertIn("lab02\nsmem", said)
        self.assertRegex(said, r"4096: x \d")


if __name__ == "__main__":
    unittest.main()
