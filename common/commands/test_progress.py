#!/usr/bin/env python3
"""What is remembered of a student's runs: under the file's contents, nothing forgotten, nothing lost."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import progress

HERE = Path(__file__).resolve().parent
LAB = "lab02_smem"


def results(**changes):
    whole = {"lab": LAB, "backend": "cpu", "checked": True, "whole": True, "passed": 10, "failed": 0, "not_run": 0, "first_failure": "",
             "variants": {"tree f32": {"passed": 10, "failed": 0}}, "predictions": {}, "counts": {}}
    return {**whole, **changes}


def counts(loads, sectors, cols=512):
    traffic = {"load_requests": loads, "load_sectors": sectors, "store_requests": 512, "store_sectors": 2048}
    return {"tree f32": {"rows": 32, "cols": cols, "k": 0, "yours": traffic}}


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "kernel.cu"
        self.state = {"version": 1, "labs": {}}

    def record(self, text, outcome=None, status=0, at="2026-01-01 10:00"):
        self.file.write_text(text)
        progress.record(self.state, LAB, self.file, progress.hash_of(self.file), status, outcome, at)
        return self.state["labs"][LAB]

    def run_of(self, text):
        self.file.write_text(text)
        return self.state["labs"][LAB]["runs"].get(progress.hash_of(self.file))

    def test_a_run_belongs_to_what_the_file_held(self):
        self.record("one", results())
        self.record("two", results(passed=7, failed=3, first_failure="tree f32 / nan / nan-7x33"), status=1)
        self.assertEqual(self.run_of("one")["outcome"], "right")
        self.assertEqual((self.run_of("two")["outcome"], self.run_of("two")["failed"]), ("wrong", 3))
        self.assertIsNone(self.run_of("three"))

    def test_what_is_no_pass(self):
        self.record("not all run", results(not_run=4))
        self.record("does not compile", None, status=3)
        self.record("no table", None, status=1)
        self.assertEqual([self.run_of(text)["outcome"] for text in ("not all run", "does not compile", "no table")],
                         ["wrong", "does not compile", "does not run"])
        self.assertNotIn("first_right", self.state["labs"][LAB])

    def test_one_case_is_no_whole_run(self):
        lab = self.record("one", results(whole=False, counts=counts(512, 2048)))
        self.assertNotIn("runs", lab)
        self.assertNotIn("counts", lab)

    def test_without_the_checks_nothing_is_taken_back(self):
        self.record("one", results())
        self.record("one", results(checked=False))
        self.assertTrue(self.run_of("one")["checked"])
        self.record("two", results(checked=False))
        self.assertFalse(self.run_of("two")["checked"])

    def test_many_runs_and_the_right_one_stays(self):
        self.record("right", results())
        for number in range(progress.MOST_RUNS + 20):
            self.record(f"wrong {number}", results(failed=1), status=1)
        self.assertEqual(len(self.state["labs"][LAB]["runs"]), progress.MOST_RUNS)
        self.assertEqual(self.run_of("right")["outcome"], "right")
        self.assertIsNone(self.run_of("wrong 0"))

    def test_predictions_with_the_number_as_it_is_written(self):
        text = 'RUNG_PREDICT(\n    {"a", %s},\n    {"b", rung::unknown})\n'
        lab = self.record(text % "3 * 5", results(whole=False, predictions={"a": "wrong", "b": "open"}), status=1)
        self.assertEqual(lab["predictions"], {"a": {"text": "3 * 5", "outcome": "wrong", "at_first": False}})
        lab = self.record(text % "20", results(whole=False, predictions={"a": "right", "b": "open"}))
        self.assertEqual(lab["predictions"], {"a": {"text": "20", "outcome": "right", "at_first": False}})

    def test_a_file_saved_during_the_run(self):
        self.file.write_text('RUNG_PREDICT(\n    {"a", 4})\n')
        progress.record(self.state, LAB, self.file, "another hash", 0, results(predictions={"a": "right"}), "now")
        self.assertEqual(self.state["labs"][LAB].get("predictions", {}), {})
        self.assertEqual(self.state["labs"][LAB]["runs"]["another hash"]["outcome"], "right")

    def test_the_best_counts_stay(self):
        self.record("one", results(counts=counts(512, 2048)))
        lab = self.record("two", results(counts=counts(512, 4096)))
        self.assertEqual(lab["counts"]["tree f32"]["yours"]["load_sectors"], 2048)
        lab = self.record("three", results(counts=counts(128, 2048)))
        self.assertEqual(lab["counts"]["tree f32"]["yours"]["load_requests"], 128)
        lab = self.record("four", results(counts=counts(900, 9000, cols=1024)))
        self.assertEqual(lab["counts"]["tree f32"]["cols"], 1024, "another shape cannot be compared")


class Events(unittest.TestCase):
    def test_what_they_come_to(self):
        traffic = {"load_requests": 1, "load_sectors": 4, "store_requests": 1, "store_sectors": 4}
        events = [{"type": "begin", "lab": LAB, "backend": "cpu", "checked": True, "whole": True},
                  {"type": "plan", "variant": "tree f32", "group": "widths", "case": "normal-7x33", "checked": True},
                  {"type": "case", "variant": "predictions", "group": "predict", "case": "predict-tree", "ok": False, "text": "not filled in yet"},
                  {"type": "case", "variant": "tree f32", "group": "widths", "case": "normal-7x32", "ok": True, "text": ""},
                  {"type": "case", "variant": "tree f32", "group": "widths", "case": "normal-7x33", "ok": False, "text": "wrong"},
                  {"type": "prediction", "name": "tree_barriers", "outcome": "open"},
                  {"type": "count", "variant": "tree f32", "rows": 32, "cols": 512, "k": 0, "yours": traffic},
                  {"type": "end", "passed": 1, "failed": 2, "not_run": 3}]
        self.assertEqual(progress.results_of(events), {
            "backend": "cpu", "checked": True, "whole": True, "passed": 1, "failed": 2, "not_run": 3,
            "first_failure": "tree f32 / widths / normal-7x33", "predictions": {"tree_barriers": "open"},
            "counts": {"tree f32": {"rows": 32, "cols": 512, "k": 0, "yours": traffic}}})
        self.assertIsNone(progress.results_of(events[:-1]), "it did not come to its end")
        self.assertIsNone(progress.results_of([]))


class TheFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "progress.json"

    def hint(self, number, path=None):
        return subprocess.run([sys.executable, HERE / "progress.py", "hint", LAB, str(number)], env={"LADDER_PROGRESS": str(path or self.path)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

    def test_hints_only_rise(self):
        for number in (1, 2, 1):
            self.assertEqual(self.hint(number).stdout, "")
        self.assertEqual(json.loads(self.path.read_text())["labs"][LAB]["hints"], 2)

    def test_a_broken_file_is_set_aside(self):
        for broken in ("{ half a", '{"version": 99, "labs": {}}', '{"labs": []}', "7"):
            self.path.write_text(broken)
            said = self.hint(1)
            self.assertEqual(said.returncode, 0, said.stdout)
            self.assertIn("is kept as progress.json.unreadable", said.stdout)
            self.assertEqual(self.path.with_name("progress.json.unreadable").read_text(), broken)
            self.assertEqual(progress.load(self.path)["labs"][LAB]["hints"], 1)

    def test_where_nothing_can_be_written(self):
        said = self.hint(1, self.path.parent / "missing" / "progress.json")
        self.assertEqual(said.returncode, 0, "a run is not lost because it cannot be remembered")
        self.assertIn("will not show in make status", said.stdout)
        self.path.mkdir()
        self.assertIn("will not show in make status", self.hint(1).stdout)
        self.assertTrue(self.path.is_dir())


if __name__ == "__main__":
    unittest.main()
