"""What a lab's test program says of a request that it cannot use, and that it does what one asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import runs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "build/cpu/tests/lab01_naive"
RUNG = "build/cpu/solutions/lab01_naive/softmax_naive.so"


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", PROGRAM, "build/cpu/worker", RUNG], cwd=ROOT, check=True)

    def test_unusable(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "request"
            for text, said in ((None, "there is no such request"), ("", "a request is one JSON object"), ("[1]", "a request is one JSON object"),
                               ('{"rung": "x.so", "colour": 1}', 'a request has no "colour"'), ('{"rung": 7}', '"rung" cannot be 7'),
                               ('{"rung": "x.so", "seed": "7"}', '"seed" cannot be "7"'), ('{"rung": "x.so", "seed": -1}', '"seed" cannot be -1'),
                               ('{"rung": "x.so", "judged": "yes"}', '"judged" cannot be "yes"'),
                               ('{"rung": "x.so", "open_todos": [1, "2"]}', '"open_todos" cannot be [1,"2"]'),
                               ('{"file": "x.cu"}', '"rung" is missing, the built file')):
                if text is not None:
                    path.write_text(text)
                done = subprocess.run([PROGRAM, path], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
                with self.subTest(text):
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"error: {path}: {said}", done.stderr)
        done = subprocess.run([PROGRAM], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (2, "error: the first argument is a file with a request; make labNN writes one\n"))

    def test_events(self):
        run = runs.run("lab01_naive", {"rung": RUNG, "file": "solutions/lab01_naive/softmax_naive.cu", "case": "normal-7x3*"})
        self.assertEqual(run.status, 0, run.output)
        begin, *events, end = run.events
        self.assertEqual(begin, {"type": "begin", "lab": "lab01_naive", "backend": "cpu", "checked": False, "whole": False})
        planned, ran = ([(event["variant"], event["case"]) for event in events if event["type"] == kind] for kind in ("plan", "case"))
        self.assertIn(("per_row f32", "normal-7x33"), planned)
        self.assertEqual(sorted(planned), sorted(ran))
        self.assertEqual(end, {"type": "end", "passed": len(ran), "failed": 0, "not_run": 0})

    def test_a_file_that_cannot_be_written(self):
        run = runs.run("lab01_naive", {"rung": RUNG, "case": "normal-7x33", "events": "/nowhere/events"})
        self.assertEqual(run.status, 0, run.output)
        self.assertIn("/nowhere/events: cannot be written, so nothing of this run is recorded", run.output)


class Counting(unittest.TestCase):
    """A build without the table of its instructions is enough for a move that is met; one that is not gets the words of the other."""

    BUILT = "build/cpu/checked/solutions/lab02_smem/softmax_smem"
    REQUEST = {"rung": "build/cpu/solutions/lab02_smem/softmax_smem.so", "case": "*serial*"}

    @classmethod
    def setUpClass(cls):
        targets = ["build/cpu/tests/lab02_smem", "build/cpu/worker", cls.REQUEST["rung"], f"{cls.BUILT}.so", f"{cls.BUILT}.untimed.so"]
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", *targets], cwd=ROOT, check=True)

    def cases(self, **more: str) -> list[dict]:
        run = runs.run("lab02_smem", {**self.REQUEST, "file": "solutions/lab02_smem/softmax_smem.cu", **more})
        return [event for event in run.events if event["type"] == "case"]

    def test_met(self):
        cases = self.cases(variant="tree", checked=f"{self.BUILT}.untimed.so", counting="build/missing.so")
        self.assertEqual([case["ok"] for case in cases], [True], cases)

    def test_not_met(self):
        alias = {"as": "tree f32=serial f32"}
        without = self.cases(checked=f"{self.BUILT}.untimed.so", counting=f"{self.BUILT}.so", **alias)
        self.assertEqual([case["ok"] for case in without], [False], without)
        self.assertEqual(without, self.cases(checked=f"{self.BUILT}.so", **alias))
        missing = self.cases(checked=f"{self.BUILT}.untimed.so", counting="build/missing.so", **alias)
        self.assertIn("cannot read build/missing.so", missing[0]["text"])
        with tempfile.TemporaryDirectory() as folder:
            pipe = Path(folder) / "made"
            os.mkfifo(pipe)
            with subprocess.Popen(["sh", "-c", f'exec >"{pipe}"; cp {self.BUILT}.so "{folder}/x.so"'], cwd=ROOT):
                self.assertEqual(without, self.cases(checked=f"{self.BUILT}.untimed.so", counting=f"{folder}/x.so", made=str(pipe), **alias))


class Words(unittest.TestCase):
    """As the commands write one."""

    def request(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-m", "course", "request", *words], cwd=ROOT / "common", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)

    def test_texts_and_json(self):
        said = self.request("rung=a b'c\".so", "case=", "seed:=18446744073709551615", "open_todos:=[1,2]", "file=x=y").stdout
        self.assertEqual(json.loads(said), {"rung": "a b'c\".so", "seed": 18446744073709551615, "open_todos": [1, 2], "file": "x=y"})

    def test_neither(self):
        for word in ("rung", "seed:=x"):
            done = self.request(word)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, "^error: ")


if __name__ == "__main__":
    unittest.main()
