"""Tests of fusion.py on made-up results: machine "Synthetic", round numbers, nothing measured."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import unittest
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fusion  # noqa: E402
import fusion_chart  # noqa: E402

SIZES = {"cores": 512, "d_model": 1024, "d_ff": 4096, "events": 8, "ffn_steps": 2}
ROOFS = {"read_gbs": 4000.0, "fma_gflops": 50000.0}


def variant(name: str, seconds: float, ncu: bool = True, source: str = "solution", dtype: str = "bf16") -> dict:
    entry = {"source": source, "variant": name, "dtype": dtype, "sizes": SIZES, "seconds": seconds, "flops": 1e12, "launches": 4,
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
        self.assertEqual(fusion_chart.weight_reads(variant("unfused", 1e-3), 16 * 25e6 * 3), 3.0)

    def test_a_column_without_figures_is_left_out(self):
        text = fusion.table({"machine": "Synthetic", "variants": [variant("graphed", 1e-3, ncu=False)]}, "solution")
        self.assertNotIn("L2 to SMs", text)

    def test_only_what_was_counted_on_a_gpu_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "chart.svg"
            self.assertFalse(fusion_chart.draw({"machine": "Synthetic", "variants": [variant("unfused", 1e-3, ncu=False)]}, {}, out))
            self.assertFalse(out.exists())
            self.assertTrue(fusion_chart.draw({"machine": "Synthetic", "variants": [variant("unfused", 1e-3)]}, ROOFS, out))
            self.assertIn("<svg", out.read_text())

    def test_a_file_that_is_none_of_lab_07_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.json"
            path.write_text(json.dumps({"points": []}))
            with self.assertRaisesRegex(SystemExit, "no results of lab 07"):
                fusion.load(path)


class Chart(unittest.TestCase):
    """On all four variants of both types."""

    def setUp(self) -> None:
        self.variants = [variant(name, seconds, ncu=name != "graphed", dtype=dtype) for dtype, slower in (("bf16", 1), ("f32", 8))
                         for name, seconds in (("unfused", 7.8e-4 * slower), ("graphed", 7.4e-4 * slower), ("fused_tiled", 1.7e-3 * slower),
                                               ("fused_per_core", 2.3e-2 * slower))]
        self.figure = fusion_chart.figure_of({"machine": "Synthetic", "variants": self.variants}, ROOFS)

    def names(self, panel: int) -> dict[str, object]:
        return {text.get_text().split(",")[0]: text for text in self.figure.axes[panel].texts}

    def test_a_panel_a_type_with_all_its_variants(self) -> None:
        self.assertEqual([axes.get_title(loc="left") for axes in self.figure.axes], ["f32", "bf16"])
        for panel in range(2):
            self.assertLess({"unfused", "graphed", "fused_tiled", "fused_per_core"}, set(self.names(panel)))
        self.assertIn("6.24 ms", self.names(0)["unfused"].get_text())
        self.assertIn("780 us", self.names(1)["unfused"].get_text())
        self.assertIn("5 GB from L2: 12.5 x the weights", self.names(1)["graphed"].get_text())

    def test_a_dot_is_at_l2_and_a_tick_at_dram(self) -> None:
        f32, bf16 = self.figure.axes
        for axes, seconds in ((f32, 8 * 2.3e-2), (bf16, 2.3e-2)):
            drawn = {(line.get_marker(), *line.get_xydata()[0]) for line in axes.lines if len(line.get_xydata()) == 1}
            self.assertIn(("o", 1e12 / 5e9, 1 / seconds), drawn)
            self.assertIn(("|", 1e12 / 2e7, 1 / seconds), drawn)
            self.assertEqual(len(drawn), 8)

    def test_fp32_units_bound_f32_alone(self) -> None:
        level = [[list(line.get_ydata()) == [50, 50] for line in axes.lines].count(True) for axes in self.figure.axes]
        self.assertEqual(level, [1, 0])

    def test_a_graph_of_other_sizes_has_no_counts(self) -> None:
        self.variants[1]["sizes"] = {**SIZES, "cores": 32}
        self.assertNotIn("graphed", [v["variant"] for v in fusion_chart.drawable({"variants": self.variants}, "bf16")])

    def test_no_name_covers_another_or_is_cut_off(self) -> None:
        canvas = FigureCanvasAgg(self.figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        texts = [self.figure._suptitle, *(text for axes in self.figure.axes for text in (
            *axes.texts, axes._left_title, axes.xaxis.label, axes.yaxis.label))]
        boxes = [(text.get_text(), Text.get_window_extent(text, renderer)) for text in texts if text.get_text()]  # without its line
        self.assertGreater(len(boxes), 2 * 6)
        for (one, a), (other, b) in itertools.combinations(boxes, 2):
            self.assertFalse(a.overlaps(b), f"{one!r} at {a} overlaps {other!r} at {b}")
        width, height = canvas.get_width_height()
        for name, box in boxes:
            self.assertTrue(0 <= box.x0 and box.x1 <= width and 0 <= box.y0 and box.y1 <= height, f"{name!r} is cut off: {box}")


if __name__ == "__main__":
    unittest.main()
