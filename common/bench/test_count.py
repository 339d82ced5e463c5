"""Tests of what bench counts with the real executor: the sector bytes of the naive solutions, derived by hand."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKED = "build/cpu/checked/solutions/lab01_naive/softmax_naive.so"
CROSS_ENTROPY = "lab08b_cross_entropy/cross_entropy.so"


def point(variant: str, rows: int, cols: int) -> dict:
    return {"source": "solution", "lab": "lab01_naive", "variant": variant, "op": "softmax", "dtype": "f32",
            "input": "normal", "rows": rows, "cols": cols, "k": 0, "seconds": 1.0, "nominal_bytes": 8 * rows * cols,
            "nominal_flops": 5 * rows * cols, "note": ""}


class Count(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", "build/cpu/bench", "build/cpu/worker", CHECKED],
                       cwd=ROOT, check=True)

    def count(self, points: list[dict], *options: str) -> tuple[int, dict, str]:
        content = {"machine": "some GPU", "backend": "cuda", "date": "2000-01-01", "points": points}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            path.write_text(json.dumps(content))
            run = subprocess.run(["build/cpu/bench", "--count-only", "--counter", "build/cpu/worker", "--checked", CHECKED,
                                  "--lab", "lab01_naive", "--source", "solution", "--results", str(path),
                                  "--quadratic", "per_element=8", *options], cwd=ROOT, capture_output=True, text=True)
            return run.returncode, json.loads(path.read_text()), run.stderr

    def test_the_naive_rungs(self) -> None:
        code, file, err = self.count([point("per_element", 64, 600), point("per_row", 64, 600)])
        self.assertEqual(code, 0, err)
        self.assertEqual((file["machine"], file["date"]), ("some GPU", "2000-01-01"))
        # 19 warps per row, each with 2 x 600 loads of one sector; 75 sectors of own elements, 75 written.
        self.assertEqual(file["points"][0]["l1_bytes"], 64 * (19 * 1200 + 75 + 75) * 32)
        self.assertEqual(file["points"][0]["counted_rows"], 8)
        # One sector per lane: three loads and one store per element.
        self.assertEqual(file["points"][1]["l1_bytes"], 64 * 600 * 4 * 32)
        self.assertEqual(file["points"][1]["counted_rows"], 64)
        for each in file["points"]:
            self.assertEqual(each["footprint_bytes"], 64 * 600 * 8)
            self.assertEqual(each["seconds"], 1.0)

    def test_scaling_is_exact_where_rows_are_not_aligned(self) -> None:
        whole, scaled = point("per_row", 64, 4099), point("per_row", 320, 4099)  # 320 rows: too many to count all
        code, file, err = self.count([whole, scaled])
        self.assertEqual(code, 0, err)
        whole, scaled = file["points"]
        self.assertEqual((whole["counted_rows"], scaled["counted_rows"]), (64, 32))
        for field in ("l1_bytes", "footprint_bytes"):
            self.assertEqual(scaled[field], 5 * whole[field], field)

    def test_a_part_of_the_rows_has_targets_of_its_own(self) -> None:
        """Behind the logits lie the rows' targets: what is counted of 32 rows is no beginning of what 320 take."""
        rungs = [f"build/cpu/{kind}solutions/{CROSS_ENTROPY}" for kind in ("", "checked/")]
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", *rungs], cwd=ROOT, check=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            run = subprocess.run(["build/cpu/bench", "--worker", "build/cpu/worker", "--rung", rungs[0], "--results", str(path),
                                  "--counter", "build/cpu/worker", "--checked", rungs[1], "--lab", CROSS_ENTROPY.split("/")[0],
                                  "--source", "solution", "--rows", "320", "--cols", "4099"], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            points = json.loads(path.read_text())["points"]
        self.assertGreaterEqual(len(points), 3)
        for each in points:
            self.assertEqual((each["rows"], each.get("counted_rows")), (320, 32), run.stderr)

    def test_what_is_not_counted_is_said(self) -> None:
        code, file, err = self.count([point("per_element", 64, 50257), point("unheard_of", 8, 8)])
        self.assertEqual(code, 1)
        self.assertIn("not counted: it would take minutes", err)
        self.assertIn("has no such variant", err)
        self.assertTrue(all("l1_bytes" not in each for each in file["points"]))
        code, _, err = self.count([dict(point("per_row", 8, 8), source="student")])
        self.assertEqual(code, 2)
        self.assertIn("has no points of lab01_naive from solution", err)


if __name__ == "__main__":
    unittest.main()
