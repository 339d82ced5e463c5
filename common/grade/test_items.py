"""From the tests' record to items: what a missing prediction says, and what a predicted time is worth."""

from __future__ import annotations

import dataclasses
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import boxed  # noqa: E402
import items  # noqa: E402
import points  # noqa: E402
import timing  # noqa: E402

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


TIMED = ("auto f32", "time", "move-budget")
TOLD = {"rows": 4096, "cols": 4352, "seconds": 6e-5, "at_least": 6e-5, "solution": 4e-5, "words": "DRAM is busy 60 % of the time"}


class BusyMachine(unittest.TestCase):
    def test_limits_by_the_clock_follow_the_load(self):
        for load, cores, times in ((0.1, 2, 1), (2, 2, 1), (6, 2, 3), (100, 2, boxed.MOST_TIMES)):
            self.assertEqual(boxed.times_longer(load, cores), times)
        self.assertGreaterEqual(boxed.times_longer(), 1)


class ToBeTimed(unittest.TestCase):
    """A first run says which kernels a time is to be predicted of; what it says of the times themselves is no result."""

    RECORD = [{"type": "plan", "variant": TIMED[0], "group": "time", "case": TIMED[2], "checked": False}, entry(CASE, ok=True),
              {"type": "launched", "variant": TIMED[0], "group": "time", "case": TIMED[2], "symbols": ["_Z4rowsPf", "_Z3sumPf"]},
              entry(TIMED, ok=True), {"type": "end"}]

    def test_kernels_and_cases_are_taken_out(self):
        kernels, cases, record, end = items.to_be_timed(self.RECORD)
        self.assertEqual(kernels, {"_Z4rowsPf", "_Z3sumPf"})
        self.assertEqual(cases, ["move-budget"])
        self.assertEqual(record, self.RECORD[:2])
        self.assertEqual(end, self.RECORD[-1:])

    def test_a_record_that_does_not_end_has_no_end(self):
        self.assertEqual(items.to_be_timed(self.RECORD[:-1])[3], [])

    def test_of_the_second_run_the_times_count(self):
        timed = [{"type": "begin"}, self.RECORD[0], entry(CASE, ok=False), entry(TIMED, ok=True),
                 {"type": "time", "group": "time", "variant": TIMED[0]}, {"type": "over", "group": "time", "variant": TIMED[0]}]
        self.assertEqual([(e["type"], e["group"]) for e in items.times_of(timed)], [("case", "time"), ("time", "time"), ("over", "time")])


class Times(unittest.TestCase):
    """What a predicted time is worth."""

    def setUp(self):
        self.points = points.load(HERE / "points.toml", sorted(path.name for path in (HERE.parents[1] / "labs").glob("lab*_*")))
        self.right = ("auto f32", "widths", "normal-7x33")

    def item(self, ok: bool, right: bool = True, **told) -> items.Item:
        time = {"type": "time", "variant": TIMED[0], "group": TIMED[1], "case": TIMED[2], **TOLD, **told}
        record = [entry(self.right, ok=right), time, entry(TIMED, ok=ok) | {"text": "" if ok else "60 us; the budget is 46 us"}, {"type": "end"}]
        graded = items.grade("lab08_rms_norm", self.points, items.Plan([self.right, TIMED], []), record)
        return next(item for item in graded if item.category == "speed")

    def test_within_the_budget_it_has_all_points(self):
        item = self.item(True)
        self.assertEqual((item.verdict, item.points), (items.PASS, item.out_of))
        self.assertEqual(item.reason, "predicted for an H200, not measured: 60 us for 4096 x 4352, our solution 40 us")
        self.assertIn("DRAM", item.details)

    def test_above_it_points_fall_to_none(self):
        item = self.item(False)
        self.assertEqual(item.verdict, items.FAIL)
        self.assertAlmostEqual(item.points / item.out_of, (4 / 6 - 0.3) / (0.85 - 0.3), delta=0.01)
        self.assertIn("our solution 40 us; all points within the handout's budget", item.reason)
        self.assertIn("46 us", item.details)
        self.assertEqual(self.item(False, seconds=2e-4).points, 0)

    def test_what_is_not_predicted_has_none_but_for_clusters(self):
        self.assertEqual(self.item(False, seconds=None, at_least=None).points, 0)
        item = self.item(True, seconds=None)
        self.assertEqual(item.points, item.out_of)
        self.assertIn("at least 60 us", item.reason)

    def test_without_points_for_speed_it_fails_nothing(self):
        self.points = dataclasses.replace(self.points, labs={"lab08_rms_norm": {**self.points.default, "moves": 30, "speed": 0}})
        item = self.item(False)
        self.assertEqual((item.verdict, item.out_of), (items.NOT_RUN, 0))

    def test_without_a_solution_to_compare_with_it_is_not_run(self):
        self.assertEqual(self.item(True, solution=None).verdict, items.NOT_RUN)

    def test_a_wrong_kernel_has_none(self):
        self.assertEqual(self.item(True, right=False).points, 0)
        self.assertEqual(self.item(False, right=False).points, 0)


class SharedWork(unittest.TestCase):
    """The moves of a variant of which one thread does the work count for nothing; those of the others do."""

    LAB = "lab03_online"
    MOVES = tuple((f"{name} f32", "move", move) for name in ("online", "online_f32x4") for move in ("move-read-twice", "move-even-shares"))
    PACE = ("online f32", "time", "move-pace")

    def graded(self, *missed: tuple[str, str, str], over: float = 0) -> dict[str, items.Item]:
        known = points.load(HERE / "points.toml", sorted(path.name for path in (HERE.parents[1] / "labs").glob("lab*_*")))
        right = tuple((f"{name} f32", "widths", "normal-7x33") for name in ("online", "online_f32x4"))
        cases = [*right, *self.MOVES, self.PACE]
        behind = [{"type": "over", "variant": self.PACE[0], "group": self.PACE[1], "case": self.PACE[2], "times": over}] if over else []
        record = [entry(case, ok=case not in missed) for case in cases] + behind + [{"type": "end"}]
        return {item.id: item for item in items.grade(self.LAB, known, items.Plan(cases, []), record)}

    def test_all_are_made(self):
        self.assertEqual({item.verdict for item in self.graded().values() if item.category == "moves"}, {items.PASS})

    def test_one_variant_is_serial(self):
        graded = self.graded(self.MOVES[1])
        self.assertEqual([graded[f"moves/online f32/{move}"].points for move in ("move-read-twice", "move-even-shares", "move-pace")], [0, 0, 0])
        self.assertEqual(graded["moves/online f32/move-read-twice"].reason, "counts once all threads of online f32 share its work (move-even-shares)")
        self.assertEqual(graded["moves/online_f32x4 f32/move-read-twice"].verdict, items.PASS)
        self.assertEqual(graded["correctness/online f32/widths"].verdict, items.PASS)

    def test_another_move_that_is_missed_takes_none_with_it(self):
        graded = self.graded(self.MOVES[0])
        self.assertEqual(graded["moves/online f32/move-even-shares"].verdict, items.PASS)

    def test_the_pace_is_a_move_and_no_speed(self):
        graded = self.graded(self.PACE)
        self.assertEqual(graded["moves/online f32/move-pace"].verdict, items.FAIL)
        self.assertEqual(graded["moves/online f32/move-even-shares"].verdict, items.PASS)

    def test_who_is_far_behind_does_not_share_the_work(self):
        graded = self.graded(self.PACE, over=1.7)
        self.assertEqual([graded[f"moves/online f32/{move}"].points for move in ("move-read-twice", "move-even-shares", "move-pace")], [0, 0, 0])
        self.assertEqual(graded["moves/online f32/move-read-twice"].reason, "counts once all threads of online f32 share its work (move-pace)")
        self.assertEqual(graded["moves/online_f32x4 f32/move-read-twice"].verdict, items.PASS)

    def test_who_is_a_little_behind_loses_the_pace_alone(self):
        self.assertEqual(self.graded(self.PACE, over=1.2)["moves/online f32/move-even-shares"].verdict, items.PASS)

    def test_bad_accesses_say_why_it_is_far_behind(self):
        self.assertEqual(self.graded(self.PACE, self.MOVES[0], over=1.7)["moves/online f32/move-even-shares"].verdict, items.PASS)

    def test_what_cannot_be_timed_waits_for_a_person(self):
        plan = items.Plan([*self.MOVES, self.PACE], [])
        for missed, expected in (((), items.PERSON), ((self.PACE,), items.FAIL)):
            graded = self.graded(*missed)
            had = graded["moves/online f32/move-pace"].points
            items.not_timed(list(graded.values()), plan, "no table")
            pace = graded["moves/online f32/move-pace"]
            self.assertEqual((pace.verdict, pace.points, pace.waiting), (expected, 0, had))
            waiting = {item.id for item in graded.values() if item.verdict == items.PERSON}
            self.assertEqual(waiting - {pace.id}, {"moves/online f32/move-read-twice", "moves/online f32/move-even-shares"})


class Lines(unittest.TestCase):
    def test_directives_that_rename_lines_are_found(self):
        for source in ('#line 1 "x"\n', ' # 1 "x"\n', "%:line 2\n", "#li\\\nne 3\n", "/* */ # /* 1 */ line 4\n"):
            self.assertTrue(timing.names_lines(f"int a;\n{source}int b;\n"), source)

    def test_others_are_none(self):
        for source in ("#define line 1\n", "/*\n# 1 first\n*/\n", 'const char* text = "\\n#line 1";\n', "// #line 1\n", "#if 1\n#endif\n"):
            self.assertFalse(timing.names_lines(f"int a;\n{source}int b;\n"), source)


if __name__ == "__main__":
    unittest.main()
