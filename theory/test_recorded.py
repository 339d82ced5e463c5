"""Chapter 12's table of predictions is that of plots/results, which holds every recorded point. Those that take seconds are predicted anew
by common/simt/timing/test_timing.py."""

import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common/simt/timing"))
import recorded  # noqa: E402


class Recorded(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / recorded.BOOK).read_text(encoding="utf-8")
        folder = ROOT / "plots/results"
        self.rows = recorded.rows_of(recorded.points(folder / "nvidia-h200.json"), recorded.points(folder / "predicted-nvidia-h200.json"))

    def test_the_chapter_has_todays_table(self):
        self.assertEqual(self.text, recorded.chapter(self.text), "python3 common/simt/timing/recorded.py --book")

    def test_the_predictions_hold_what_they_must(self):
        self.assertGreater(len(self.rows), 90)
        self.assertEqual(recorded.broken_terms(self.rows), [])

    def test_every_exception_is_needed(self):
        exceptions = {name: getattr(recorded, name) for name in ("FARTHER", "OTHER_ORDER", "NO_NUMBER")}
        with mock.patch.multiple(recorded, **{name: type(which)() for name, which in exceptions.items()}):
            self.assertEqual(len(recorded.broken_terms(self.rows)), sum(map(len, exceptions.values())))

    def test_another_table_is_seen(self):
        other = self.text.replace("| lab02_smem | tree | f32 | 4096 x 4096 | ", "| lab02_smem | tree | f32 | 4096 x 4096 | 1", 1)
        self.assertNotEqual(other, self.text)
        self.assertNotEqual(other, recorded.chapter(other))


if __name__ == "__main__":
    unittest.main()
