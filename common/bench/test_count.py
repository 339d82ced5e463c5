"""Tests of what bench counts with the real executor: the sector bytes of the naive solutions, derived by hand."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAIVE = "lab01_naive/softmax_naive.so"
CROSS_ENTROPY = "lab08b_cross_entropy/cross_entropy.so"


class Count(unittest.TestCase):
    def points(self, rung: str, shape: str, *options: str, checked: str = "") -> tuple[list[dict], str]:
        """What a results file gets of a solution, and what is said. checked: what is counted with, if it is not the rung's."""
        built = [f"build/cpu/{kind}solutions/{each}" for kind, each in (("", rung), ("checked/", checked or rung))]
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", "build/cpu/bench", "build/cpu/worker", *built], cwd=ROOT, check=True)
        rows, cols = shape.split("x")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            run = subprocess.run(["build/cpu/bench", "--worker", "build/cpu/worker", "--rung", built[0], "--checked", built[1], "--lab", rung.split("/")[0],
                                  "--source", "solution", "--results", str(path), "--rows", rows, "--cols", cols, *options],
                                 cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            return json.loads(path.read_text())["points"], run.stderr

    def test_the_naive_rungs(self) -> None:
        points, _ = self.points(NAIVE, "64x600", "--quadratic", "per_element=64")
        each = {point["variant"]: point for point in points if point["dtype"] == "f32"}
        # 19 warps per row, each with 2 x 600 loads of one sector; 75 sectors of own elements, 75 written.
        self.assertEqual(each["per_element"]["l1_bytes"], 64 * (19 * 1200 + 75 + 75) * 32)
        self.assertEqual(each["per_element"]["counted_rows"], 8)
        # One sector per lane: three loads and one store per element.
        self.assertEqual(each["per_row"]["l1_bytes"], 64 * 600 * 4 * 32)
        self.assertEqual(each["per_row"]["counted_rows"], 64)
        for point in each.values():
            self.assertEqual(point["footprint_bytes"], 64 * 600 * 8)

    def test_scaling_is_exact_where_rows_are_not_aligned(self) -> None:
        # 320 rows: too many to count all.
        whole, scaled = ({point["variant"]: point for point in self.points(NAIVE, f"{rows}x4099", "--wrong", "per_element")[0]}["per_row"] for rows in (64, 320))
        self.assertEqual((whole["counted_rows"], scaled["counted_rows"]), (64, 32))
        for field in ("l1_bytes", "footprint_bytes"):
            self.assertEqual(scaled[field], 5 * whole[field], field)

    def test_a_part_of_the_rows_has_targets_of_its_own(self) -> None:
        """Behind the logits lie the rows' targets: what is counted of 32 rows is no beginning of what 320 take."""
        points, said = self.points(CROSS_ENTROPY, "320x4099")
        self.assertGreaterEqual(len(points), 3)
        for each in points:
            self.assertEqual((each["rows"], each.get("counted_rows")), (320, 32), said)

    def test_what_is_not_counted_is_said(self) -> None:
        points, said = self.points(NAIVE, "8x8000", "--quadratic", "per_row=8", "--wrong", "per_element", "no_max")
        self.assertIn("not counted: it would take minutes", said)
        self.assertEqual(len(points), 1)
        others, said = self.points(NAIVE, "8x8", checked=CROSS_ENTROPY)
        self.assertIn("not counted: the instrumented rung has no such variant", said)
        self.assertTrue(all("l1_bytes" not in each for each in points + others))


if __name__ == "__main__":
    unittest.main()
