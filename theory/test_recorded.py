"""Chapter 12's table of predictions is that of plots/results."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common/simt/timing"))
import recorded  # noqa: E402


class Recorded(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / recorded.BOOK).read_text(encoding="utf-8")

    def test_the_chapter_has_todays_table(self):
        self.assertEqual(self.text, recorded.chapter(self.text), "python3 common/simt/timing/recorded.py --book")

    def test_the_predictions_hold_what_they_must(self):
        folder = ROOT / "plots/results"
        rows = recorded.rows_of(recorded.points(folder / "nvidia-h200.json"), recorded.points(folder / "predicted-nvidia-h200.json"))
        self.assertGreater(sum(row["ratio"] is not None for row in rows), 50)
        self.assertEqual(recorded.broken_terms(rows), [])

    def test_another_table_is_seen(self):
        other = self.text.replace("| lab02_smem | tree | f32 | 4096 x 4096 | ", "| lab02_smem | tree | f32 | 4096 x 4096 | 1", 1)
        self.assertNotEqual(other, self.text)
        self.assertNotEqual(other, recorded.chapter(other))


if __name__ == "__main__":
    unittest.main()
