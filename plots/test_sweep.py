#!/usr/bin/env python3
"""The chart and the table of a sweep: what is in the files, each value once, predictions with their bands and named as such."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sweep
from points import UserError


def point(variant, seconds, cols, predicted=True):
    found = {"source": "student", "lab": "lab02_smem", "variant": variant, "op": "softmax", "dtype": "f32", "input": "normal", "rows": 4096,
             "cols": cols, "k": 0, "seconds": seconds, "nominal_bytes": 8 * 4096 * cols, "nominal_flops": 5 * 4096 * cols}
    return {**found, "predicted": {"low": seconds / 2, "high": seconds * 2, "limit": "dram", "words": ""}} if predicted and seconds else found


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def files(self, backend="predicted", **seconds):
        for cols, times in seconds.items():
            table = {"machine": "NVIDIA H200", "backend": backend, "roofs": {"copy_gbs": 4257},
                     "points": [point(variant, time, int(cols[1:]), backend == "predicted") for variant, time in times.items()]}
            (self.folder / f"cols-{cols[1:]}.json").write_text(json.dumps(table))
        return sorted(self.folder.glob("cols-*.json"))

    def test_values_in_order_and_a_gap_where_a_variant_refused(self):
        head, curves = sweep.read(self.files(c256={"tree": 10e-6, "serial": 20e-6}, c1024={"tree": 12e-6, "serial": None}, c512={"tree": 11e-6}))
        lines = sweep.table(head, curves, "cols").splitlines()
        self.assertEqual(lines[0], "predicted us on NVIDIA H200, over columns of a row (4096 rows)")
        self.assertEqual([line.split() for line in lines[2:]], [["256", "10.0", "20.0"], ["512", "11.0", "-"], ["1024", "12.0", "-"]])

    def test_the_chart_has_each_point_its_band_and_the_copy_roof(self):
        head, curves = sweep.read(self.files(c256={"tree": 10e-6}, c512={"tree": 11e-6}))
        axes = sweep.draw(head, curves, "cols").axes[0]
        self.assertIn("predicted, not measured", axes.get_title())
        heights = axes.containers[0].lines[0].get_ydata()
        self.assertAlmostEqual(heights[0], 8 * 4096 * 256 / 10e-6 / 1e9)
        self.assertEqual(sweep.band(curves["tree f32"][256]), (heights[0] / 2, heights[0]))
        self.assertIn("copy: 4257 GB/s", [text.get_text() for text in axes.get_legend().get_texts()])

    def test_a_measured_sweep_has_no_bands_and_says_measured(self):
        head, curves = sweep.read(self.files(backend="cuda", c256={"tree": 10e-6}))
        self.assertTrue(sweep.table(head, curves, "cols").startswith("measured us on"))
        self.assertEqual(sweep.band(curves["tree f32"][256]), (0, 0))

    def test_a_file_that_is_none(self):
        (self.folder / "cols-4.json").write_text("[]")
        with self.assertRaisesRegex(UserError, "cols-4.json: not a results file"):
            sweep.read([self.folder / "cols-4.json"])


if __name__ == "__main__":
    unittest.main()
