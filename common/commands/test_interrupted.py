#!/usr/bin/env python3
"""An interrupted run is no wrong kernel: nothing of it is recorded, and it says so. A closed pipe gets no traceback."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import progress
from course_copy import copy_course, run

LAB, KERNEL = "lab01_naive", "softmax_naive.cu"
RIGHT = {"outcome": "right", "date": "2026-01-02 03:04", "backend": "cpu", "checked": True, "passed": 142, "failed": 0, "not_run": 0}


class InACopy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = copy_course(Path(folder.name), built=True)
        cls.file = cls.copy / "labs" / LAB / KERNEL
        shutil.copy(cls.copy / "solutions" / LAB / KERNEL, cls.file)
        done = run(cls.copy, "make", "lab01", "CASE=normal-7x33")  # so that all is built
        assert done.returncode == 0, done.stdout
        cls.record = cls.copy / ".progress.json"

    def setUp(self):
        state = {"version": 1, "labs": {LAB: {"runs": {progress.hash_of(self.file): RIGHT}, "first_right": RIGHT["date"]}}}
        self.record.write_text(json.dumps(state))
        self.before = self.record.read_text()

    def start(self, command: str) -> subprocess.Popen:
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("MAKEFLAGS", "MAKELEVEL", "LADDER_PROGRESS", "CASE", "FILE", "ONLY")}
        child = subprocess.Popen(["bash", "-c", command], cwd=self.copy, env={**environment, "BACKEND": "cpu"}, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(child.stdout.close)
        return child

    def interrupt(self, number: signal.Signals, whom=os.killpg) -> str:
        """Sends the signal while the tests run, to the whole session or to make alone. The output afterwards."""
        child = self.start("exec make lab01 TESTS_ONLY=1")
        for line in child.stdout:
            if " widths " in line:
                break
        whom(child.pid, number)
        output = child.communicate(timeout=20)[0]
        self.assertNotEqual(child.returncode, 0)
        return output

    def nothing_recorded(self, output: str) -> None:
        self.assertIn("nothing of this run is recorded", output)
        self.assertNotIn("FAIL", output)
        self.assertNotIn("Not right yet", output)
        self.assertNotIn("Unknown expression", output)
        self.assertEqual(self.record.read_text(), self.before)
        self.assertEqual(run(self.copy, "common/commands/status.sh").returncode, 0)
        self.assertEqual(run(self.copy, "make", "diff01").returncode, 0, "diff stays open")

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                self.nothing_recorded(self.interrupt(number))

    def test_only_make_is_ended(self):
        self.nothing_recorded(self.interrupt(signal.SIGTERM, os.kill))

    def test_a_pipe_that_nobody_reads(self):
        output = self.start("make lab01 | head -3").communicate(timeout=60)[0]
        self.nothing_recorded(output)

    def test_what_a_status_is_recorded_for(self):
        for status in (2, 130, 139, 141):
            done = run(self.copy, sys.executable, "common/commands/progress.py", "record", LAB, "--hash", progress.hash_of(self.file),
                       "--status", str(status), "--results", "missing.json")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(self.record.read_text(), self.before, status)

    def test_no_traceback_in_a_closed_pipe(self):
        for command in ("make", "make status"):
            # The reader is gone before the first line.
            output = self.start(f"{{ sleep 0.5; {command}; }} | true; sleep 1").communicate(timeout=60)[0]
            self.assertEqual(output, "", command)


if __name__ == "__main__":
    unittest.main()
