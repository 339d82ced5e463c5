#!/usr/bin/env python3
"""The chart over the number of GPUs: every recorded figure is on its line, and files that do not belong together are refused."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sharded

RESULTS = Path(__file__).resolve().parent / "results"
FILES = sorted(RESULTS.glob("sharded-nvidia-h200-x*.json"))


class Sharded(unittest.TestCase):
    def setUp(self):
        self.tables = [sharded.load(path) for path in FILES]

    def test_every_recorded_figure_is_on_its_line(self):
        peers = [sharded.load(path) for path in sorted(RESULTS.glob("sharded-peers-nvidia-h200-x*.json"))]
        figure = sharded.draw(self.tables[::-1], peers)  # in any order
        self.assertEqual([axes.get_title() for axes in figure.axes][:2], ["1 x 128,256", "8 x 128,256"])
        for axes, shape in zip(figure.axes, sharded.shapes_of(self.tables[0])):
            lines = {line.get_label(): list(zip(*line.get_data())) for line in axes.get_lines()}
            for variant in (*sharded.VARIANTS, "local"):
                drawn = lines["top-K of the own columns" if variant == "local" else variant]
                self.assertEqual(drawn, [(table["devices"], table[shape][variant]) for table in self.tables], variant)
            self.assertEqual(lines["PyTorch, the fastest of three ways"], [(table["devices"], min(table[shape].values())) for table in peers])

    def test_what_does_not_belong_together_is_refused(self):
        other = {**self.tables[0], "devices": 4, "machine": "4 x NVIDIA L4"}
        for tables, why in (([*self.tables, other], "different GPUs"), ([self.tables[0]] * 2, "the same number of GPUs")):
            with self.assertRaisesRegex(sharded.UserError, why):
                sharded.draw(tables)

    def test_a_file_that_is_none_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "none.json"
            for text in ("[]", "{", json.dumps({"devices": 2})):
                file.write_text(text)
                said = io.StringIO()
                with contextlib.redirect_stderr(said):
                    self.assertEqual(sharded.main([str(file), "--output", f"{folder}/chart"]), 1)
                self.assertIn("none.json", said.getvalue())
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["none.json"])


if __name__ == "__main__":
    unittest.main()
