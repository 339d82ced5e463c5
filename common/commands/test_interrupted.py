#!/usr/bin/env python3
"""An interrupted run is no wrong kernel: nothing of it is recorded, and it says so. A closed pipe gets no traceback."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import progress
from course_copy import copy_course, run

LAB, KERNEL = "lab01_naive", "softmax_naive.cu"
PROGRAM, ITS_FILE = "lab09_sharded", "sharded_topk.cu"
# In simtcc's place: what it "compiles" predicts nothing, and then runs until it is ended.
STAND_IN = """import os, sys
out = sys.argv[sys.argv.index("-o") + 1]
with open(out, "w") as file:
    file.write("#!/bin/bash\\n[ $1 != predict ] || { : >$3; exit; }\\necho $$ >>build/begun\\nexec sleep ${LASTS:-300}\\n")
os.chmod(out, 0o755)
"""
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
        # Ctrl-C ends it, also where this test was begun in the background.
        child = subprocess.Popen(["bash", "-c", command], cwd=self.copy, env={**environment, "BACKEND": "cpu"}, start_new_session=True,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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

    # ---- Lab 09, a program whose runs follow each other ----
    def start_program(self, command: str) -> subprocess.Popen:
        (self.copy / "common/simt/simtcc").write_text(STAND_IN)  # no lab that is a rung uses it
        (self.copy / "build/begun").unlink(missing_ok=True)
        child = self.start(command)
        self.addCleanup(self.end_all)
        return child

    def begin_program(self, command: str) -> subprocess.Popen:
        """Until the first run has begun."""
        child = self.start_program(command)
        self.wait_for_runs(1)
        return child

    def wait_for_runs(self, number: int) -> list[str]:
        begun = self.copy / "build/begun"
        last = time.monotonic() + 120
        while len(runs := begun.read_text().split() if begun.exists() else []) < number:
            self.assertLess(time.monotonic(), last, "a run did not begin")
            time.sleep(0.05)
        return runs

    def at_work(self) -> list[int]:
        """The processes that were started in the copy and have not ended."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                ended = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
                if Path(os.readlink(process / "cwd")) == self.copy.resolve() and not ended:
                    found.append(int(process.name))
            except OSError:  # it has ended, or is another user's
                continue
        return found

    def end_all(self) -> None:
        for process in self.at_work():
            os.kill(process, signal.SIGKILL)

    def nothing_left(self) -> None:
        last = time.monotonic() + 30
        while self.at_work() and time.monotonic() < last:
            time.sleep(0.05)
        self.assertEqual([(Path("/proc") / str(each) / "cmdline").read_bytes() for each in self.at_work()], [])
        self.assertEqual(list((self.copy / "build").glob(f"{PROGRAM}.*")), [])

    def test_a_program(self):
        for number, whom in ((signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)):
            with self.subTest(number.name, whom=whom.__name__):
                child = self.begin_program("exec make lab09 TESTS_ONLY=1 CHECKS=off")
                whom(child.pid, number)
                output = child.communicate(timeout=60)[0]
                self.assertNotEqual(child.returncode, 0)
                self.assertIn("nothing of this run is recorded", output)
                self.assertNotIn("FAIL", output)
                self.assertEqual(self.record.read_text(), self.before)
                self.nothing_left()

    def test_a_signal_just_after_a_run_has_begun(self):
        """It comes to the shell before that has gone on from where it began the run."""
        script = self.copy / "common/commands/program.sh"
        text = script.read_text()
        self.addCleanup(script.write_text, text)
        slow, places = re.subn(r'(>"\$work/output" 2>&1 &\n)', r"\1sleep 1\n", text)
        self.assertEqual(places, 1)
        script.write_text(slow)
        child = self.begin_program("exec make lab09 TESTS_ONLY=1 CHECKS=off")
        os.kill(child.pid, signal.SIGTERM)
        self.assertIn("nothing of this run is recorded", child.communicate(timeout=60)[0])
        self.nothing_left()

    def test_a_program_without_the_checks(self):
        output = self.begin_program("LASTS=0 exec make lab09 TESTS_ONLY=1 CHECKS=off SOLUTION=1").communicate(timeout=60)[0]
        self.assertIn("13 passed, 0 failed", output)
        self.assertNotIn("under the checks", output)

    def test_a_program_that_nobody_reads(self):
        # The reader goes while the first run is at work, or before it has begun.
        for reader in ("head -3; until [ -s build/begun ]; do sleep 0.05; done", "head -1"):
            with self.subTest(reader):
                child = self.start_program(f"LASTS=1 make lab09 TESTS_ONLY=1 CHECKS=off | {{ {reader}; }}")
                output = child.communicate(timeout=120)[0]
                self.assertIn("interrupted (SIGPIPE)", output)
                self.assertIn("nothing of this run is recorded", output)
                self.assertNotIn("write error", output)
                self.assertEqual(self.record.read_text(), self.before)
                self.nothing_left()

    def test_a_save_ends_the_watched_program(self):
        child = self.begin_program("exec make watch09 CHECKS=off")
        first = self.wait_for_runs(1)[0]
        file = self.copy / "labs" / PROGRAM / ITS_FILE
        file.write_text(file.read_text() + "\n")
        second = self.wait_for_runs(2)[1]
        at_work = self.at_work()
        self.assertNotIn(int(first), at_work)
        self.assertIn(int(second), at_work)
        os.kill(child.pid, signal.SIGTERM)
        child.communicate(timeout=60)
        self.assertEqual(self.record.read_text(), self.before)
        self.nothing_left()

    # ---- make sanitizeNN: four tools at once ----
    def test_the_tools_of_a_gpu(self):
        """With stand-ins for all that needs a GPU; each start of a tool is a session of its own."""
        session = "echo $$ >>$LADDER_SANITIZER_LOGS/started; echo $$ >>build/begun; exec flock -s $LADDER_SANITIZER_LOGS/running sleep 300"
        begin = f"setsid bash -c '{session}' & exec sleep 300"
        for name, text in (("build/cpu/backend", "echo cuda"), ("build/cuda/worker", ""), ("bin/compute-sanitizer", ""),
                           (f"build/cuda/solutions/{LAB}/{KERNEL[:-3]}.so", ""), (f"build/cpu/tests/{LAB}", begin)):
            (self.copy / name).parent.mkdir(parents=True, exist_ok=True)
            (self.copy / name).unlink(missing_ok=True)
            (self.copy / name).write_text(f"#!/bin/bash\n{text}\n")
            (self.copy / name).chmod(0o755)
            self.addCleanup((self.copy / name).unlink)
        child = self.begin_program("PATH=$PWD/bin:$PATH PREBUILT=1 exec make sanitize01 SOLUTION=1 BACKEND=")
        self.wait_for_runs(4)
        os.killpg(child.pid, signal.SIGINT)
        output = child.communicate(timeout=60)[0]
        self.assertIn("interrupted (SIGINT)", output)
        self.nothing_left()
        self.assertEqual(list((self.copy / "build/sanitizer").iterdir()), [])

    def test_what_a_status_is_recorded_for(self):
        for status in (2, 130, 139, 141):
            done = run(self.copy, sys.executable, "common/commands/progress.py", "record", LAB, "--hash", progress.hash_of(self.file),
                       "--status", str(status), "--events", "missing")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(self.record.read_text(), self.before, status)

    def test_no_traceback_in_a_closed_pipe(self):
        for command in ("make", "make status"):
            # The reader is gone before the first line.
            output = self.start(f"{{ sleep 0.5; {command}; }} | true; sleep 1").communicate(timeout=60)[0]
            self.assertEqual(output, "", command)


if __name__ == "__main__":
    unittest.main()
