"""The points file: what it must say, and that nothing is lost when points are divided."""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import points  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import labs as manifest  # noqa: E402

TEXT = (Path(__file__).resolve().parent / "points.toml").read_text()
LABS = [lab.name for lab in manifest.load()]


def load(text: str) -> points.Points:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.toml"
        path.write_text(text)
        return points.load(path, LABS)


class PointsFile(unittest.TestCase):
    def refused(self, text: str, *parts: str) -> None:
        self.assertNotEqual(text, TEXT)
        with self.assertRaises(points.PointsError) as caught:
            load(text)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_the_defaults_sum_to_100(self):
        self.assertEqual(sum(load(TEXT).default.values()), 100)

    def test_mistakes_are_named(self):
        self.refused(TEXT.replace("correctness = 50", "correctness = 51"), "[points]", "sum to 101")
        self.refused(TEXT.replace("moves = 20", "move = 20"), "does not know 'move'")
        self.refused(TEXT.replace("speed = 10 ", "speed = ten"), "not TOML")
        self.refused(TEXT.replace("speed = 10 ", "speed = true"), "speed = True")
        self.refused(TEXT.replace("checks = 15", "checks = -15"), "not between")
        self.refused(TEXT.replace("full = 0.85\n", ""), "[speed] lacks 'full'")
        self.refused(TEXT + "\n[bonus]\n", "no table [bonus]")
        self.refused(TEXT + "\n[points.lab09]\ncorrectness = 100\n", "no such lab", "lab02_smem")

    def test_a_points_file_of_an_earlier_course(self):
        without = re.sub(r"(?m)^submission_seconds.*\n", "", TEXT)
        self.assertNotEqual(without, TEXT)
        self.assertEqual(load(without).limits["submission_seconds"], 900)

    def test_a_lab_of_its_own(self):
        own = "\n[points.lab05_topk]\ncorrectness = 60\nchecks = 10\nmoves = 20\npredictions = 5\nspeed = 5\n"
        table = load(TEXT + own)
        self.assertEqual((table.of("lab05_topk")["correctness"], table.of("lab02_smem")["correctness"]), (60, 50))

    def test_nothing_is_lost(self):
        self.assertEqual(points.divide(10, [Fraction(1)] * 3), [4, 3, 3])
        table = load(TEXT)
        kinds = [("correctness", 3), ("correctness", 2), ("correctness", 2), ("checks", 1), ("moves", 1), ("moves", 1), ("moves", 1), ("speed", 1)]
        for count in range(1, len(kinds) + 1):
            shares = points.divide_lab(table, "lab02_smem", kinds[:count])
            self.assertAlmostEqual(sum(shares), 100, places=9)
        # A category that a lab lacks gives its points to the others in proportion.
        self.assertEqual(points.divide_lab(table, "lab02_smem", [("correctness", 1), ("speed", 1)]), [83.33, 16.67])


if __name__ == "__main__":
    unittest.main()
