"""From the tests' record to items: what a missing prediction says."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import items  # noqa: E402
import points  # noqa: E402

LAB = "lab02_smem"
CASE = ("serial f32", "widths", "normal-7x33")
PREDICTED = ("predictions", "predict", "predict-serial-limit")


def entry(case: tuple[str, str, str], **more) -> dict:
    return {"type": "case", "variant": case[0], "group": case[1], "case": case[2], "text": "", **more}


class Items(unittest.TestCase):
    def setUp(self):
        self.points = points.load(HERE / "points.toml", sorted(path.name for path in (HERE.parents[1] / "labs").glob("lab*_*")))
        self.plan = items.Plan([CASE, PREDICTED], [])

    def prediction(self, record: list[dict], ended_by: str = "") -> items.Item:
        graded = items.grade(LAB, self.points, self.plan, record, ended_by)
        return next(item for item in graded if item.category == "predictions")

    def test_a_prediction_that_is_not_made_is_called_so(self):
        record = [entry(CASE, ok=True), {"type": "end"}]
        self.assertEqual(self.prediction(record).reason, 'there is no prediction "serial_limit": is it in the RUNG_PREDICT line?')
        self.assertNotIn("RUNG_PREDICT", self.prediction(record[:1]).reason, "the tests did not come so far")
        self.assertNotIn("RUNG_PREDICT", self.prediction(record, "the lab's 240 s were over").reason)

    def test_one_that_is_made_is_judged(self):
        record = [entry(CASE, ok=True), entry(PREDICTED, ok=False, text="no: it is latency"), {"type": "end"}]
        self.assertIn("it is latency", self.prediction(record).reason)


if __name__ == "__main__":
    unittest.main()
