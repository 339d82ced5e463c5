"""Tests of fusion.py on made-up results: machine "Synthetic", round numbers, nothing measured."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fusion  # noqa: E402

SIZES = {"cores": 512, "d_model": 1024, "d_ff": 4096, "events": 8, "ffn_steps": 2}


def variant(name: str, seconds: float, ncu: bool = True, source: str = "solution") -> dict:
    entry = {"source": source, "variant": name, "dtype": "bf16", "sizes": SIZES, "seconds": seconds, "flops": 1e12, "launches": 4,
             "weight_bytes": 25e6, "weight_reads_a_step_32_cores": 2.0}
    if ncu:
        entry["ncu"] = {"l2_to_sm_bytes": 5e9, "dram_read_bytes": 2e7, "registers": 64}
    return entry


class Fusion(unittest.TestCase):
    def test_the_table_is_slowest_first_and_of_one_source(self):
        results = {"machine": "Synthetic", "variants": [variant("graphed", 1e-3, ncu=False), variant("unfused", 2e-3),
                                                        variant("mine", 5e-3, source="student")]}
        lines = fusion.table(results, "solution").splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["unfused", "graphed"])
        self.assertIn("2 ms", lines[1])
        self.assertIn("500", lines[1])  # TFLOP/s
        self.assertIn("5 GB", lines[1])
        self.assertIn("20 MB", lines[1])
        self.assertNotIn("mine", "\n".join(lines))

    def test_weights_are_counted_a_step(self):
        self.assertEqual(fusion.weight_reads(variant("unfused", 1e-3), 16 * 25e6 * 3), 3.0)

    def test_a_column_without_figures_is_left_out(self):
        text = fusion.table({"machine": "Synthetic", "variants": [variant("graphed", 1e-3, ncu=False)]}, "solution")
        self.assertNotIn("L2 to SMs", text)

    def test_only_what_was_counted_on_a_gpu_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "chart.svg"
            self.assertFalse(fusion.draw({"machine": "Synthetic", "variants": [variant("unfused", 1e-3, ncu=False)]}, None, out))
            self.assertFalse(out.exists())
            self.assertTrue(fusion.draw({"machine": "Synthetic", "variants": [variant("unfused", 1e-3)]}, 4000.0, out))
            self.assertIn("<svg", out.read_text())

    def test_a_file_that_is_none_of_lab_07_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.json"
            path.write_text(json.dumps({"points": []}))
            with self.assertRaisesRegex(SystemExit, "no results of lab 07"):
                fusion.load(path)


if __name__ == "__main__":
    unittest.main()
