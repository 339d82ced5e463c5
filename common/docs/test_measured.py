"""Tests of the tables of what was measured, on made-up results: machines "Chip" and "Host", nothing measured."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import measured  # noqa: E402
import measured_step  # noqa: E402


def point(variant: str, source: str = "solution", lab: str = "lab02_smem") -> dict:
    return {"lab": lab, "variant": variant, "source": source, "input": "normal", "op": "softmax", "dtype": "f32", "rows": 10, "cols": 100, "k": 0,
            "seconds": 2e-6, "l1_bytes": 12000, "footprint_bytes": 8000}


def entry(variant: str, seconds: float, cores: int = 512, source: str = "solution", **more: object) -> dict:
    sizes = {"cores": cores, "d_model": 1024, "d_ff": 4096, "events": 8, "ffn_steps": 2}
    return {"variant": variant, "source": source, "dtype": "bf16", "seconds": seconds, "sizes": sizes, "weight_bytes": 25.2e6, **more}


COUNTED = {"launches": 4, "weight_reads_a_step_32_cores": 32.0,
           "ncu": {"l2_to_sm_bytes": 159e9, "dram_read_bytes": 1.47e9, "registers": 80, "warps_active_pct": 32.2}}
CHIP = {"machine": "Chip", "backend": "cuda", "date": "2000-01-01", "command": "make it",
        "variants": [entry("fast", 7e-4, launches=116), entry("slow", 2.3e-2, **COUNTED), entry("mine", 1.0, source="student")]}
HOST = {"machine": "Host", "backend": "cpu", "date": "2000-01-02", "variants": [entry("fast", 1.5e-2, 32)]}


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name) / "plots/results"
        self.results.mkdir(parents=True)
        patch = mock.patch.object(measured, "ROOT", Path(folder.name))
        patch.start()
        self.addCleanup(patch.stop)

    def put(self, name, result):
        (self.results / name).write_text(json.dumps(result))

    def rows(self, lab):
        return [line for line in measured.table(lab).splitlines() if line.startswith("| `")]

    def test_without_results_there_is_no_table(self):
        self.assertEqual(measured.table("lab02_smem") + measured.table("lab07_fusion"), "")

    def test_a_lab_has_a_chart_where_its_solutions_were_measured(self):
        self.assertEqual(measured.chart("lab02_smem"), "")
        points = [point("tree"), point("mine", "student", "lab03_online"), {**point("auto", lab="lab08_rms_norm"), "op": "rms_norm"}]
        self.put("nvidia-h200.json", {**CHIP, "points": points})
        self.assertIn("; lab02 is this one](../../plots/roofline-h200.png)", measured.chart("lab02_smem"))
        self.assertEqual(measured.chart("lab03_online"), "")
        self.assertNotIn("![", measured.chart("lab08_rms_norm"))
        self.assertIn("(roofline.html)", measured.chart("lab08_rms_norm"))
        self.assertIn("(../../plots/fusion-h200.svg)", measured.chart("lab07_fusion"))

    def test_a_lab_of_the_ladder_has_its_own_solutions(self):
        points = [point("tree"), point("mine", "student"), point("online", lab="lab03_online")]
        self.put("chip.json", {**CHIP, "points": points})
        self.assertEqual(self.rows("lab02_smem"), ["| `tree` | f32 | 10 x 100 | 2.0 | 12 | 8 | 4 |"])

    def test_the_step_has_a_row_a_variant_slow_ones_first(self):
        self.put("fusion-chip.json", CHIP)
        self.assertEqual(self.rows("lab07_fusion"), ["| `slow` | bf16 | 23 | 4 | 32 | 25.2 | 159 | 1,470 | 80 | 32.2 % |",
                                                     "| `fast` | bf16 | 0.7 | 116 |  | 25.2 |  |  |  |  |"])
        head = measured.table("lab07_fusion").split("| variant")[1].splitlines()[0]
        self.assertEqual(head.count("|"), self.rows("lab07_fusion")[0].count("|") - 1)

    def test_a_table_a_machine_and_sizes_the_gpu_first(self):
        self.put("fusion-a-host.json", HOST)
        self.put("fusion-chip.json", {**CHIP, "variants": CHIP["variants"] + [entry("fast", 1e-5, 64)]})
        said = measured.table("lab07_fusion")
        starts = [said.index(start) for start in ("## Measured", "**Chip**, 2000-01-01, `make it`, solutions, 512 cores, 1024-4096, 8 events of 2 steps:",
                                                  "**Chip**, 2000-01-01, `make it`, solutions, 64 cores", "**Host**, 2000-01-02, solutions, 32 cores")]
        self.assertEqual(starts, sorted(starts))
        self.assertEqual(said.count("| variant"), 3)
        self.assertEqual(len(self.rows("lab07_fusion")), 4)

    def test_neither_kind_of_results_is_taken_for_the_other(self):
        self.put("fusion-chip.json", CHIP)
        self.put("chip.json", {**CHIP, "points": [point("tree")]})
        self.assertEqual(len(self.rows("lab02_smem")), 1)
        self.assertEqual(len(self.rows("lab07_fusion")), 2)
        self.assertEqual(self.rows("lab03_online"), [])
        self.assertEqual([each["machine"] for each in measured.results()], ["Chip"])


if __name__ == "__main__":
    unittest.main()
