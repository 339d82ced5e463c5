#!/usr/bin/env python3
"""make watchNN: runs again on every save, shows what matters, ends at Ctrl-C without a trace."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import watch

ROOT = Path(__file__).resolve().parents[2]
RIGHT = (ROOT / "solutions/lab02_smem/softmax_smem.cu").read_text()
WRONG = RIGHT.replace("y[c] = row[c] * scale", "y[c] = row[c] * scale * 2.0f")
HANGS = RIGHT.replace("const int t = threadIdx.x;", "const int t = threadIdx.x;\n  for (volatile int i = 0; i < 1; i = 0) {}")

OUTPUT = """cpu: BACKEND=cpu was asked for
labs/lab02_smem/softmax_smem.cu

predictions       predict     4 cases  FAIL    0.00 s   1 wrong
    predict-float4-loads
      not filled in yet: tree_f32x4 f32: A row of 2000 columns
serial f32        widths     12 cases  ok      0.80 s
tree f32          widths     12 cases  ok      0.70 s
tree f32          nan        13 cases  FAIL    0.49 s   1 wrong
    nan-7x33
      NaN not spread over the whole row

Not right yet in labs/lab02_smem/softmax_smem.cu.
Next: edit labs/lab02_smem/softmax_smem.cu
  line 16: TODO 0: predict
One case alone: make lab02 CASE=nan-7x33
A hint: make hint02
28 passed, 2 failed
"""


class Essence(unittest.TestCase):
    def test_what_is_shown(self):
        self.assertEqual(watch.essence(OUTPUT, "lab02_smem", "labs/lab02_smem/softmax_smem.cu"), [
            "predictions       predict     4 cases  FAIL    0.00 s   1 wrong   (make lab02 CASE='predict-*' asks the questions)",
            "tree f32          nan        13 cases  FAIL    0.49 s   1 wrong",
            "    nan-7x33",
            "      NaN not spread over the whole row",
            "",
            "One case alone: make lab02 CASE=nan-7x33",
            "no failure: serial f32",
            "28 passed, 2 failed"])

    def test_wrong_predictions_are_shown_in_full(self):
        output = OUTPUT.replace("not filled in yet: tree_f32x4 f32: A row", "predicted 15, too low. A row")
        self.assertIn("      predicted 15, too low. A row of 2000 columns", watch.essence(output, "lab02_smem"))

    def test_a_compiler_message_is_shown_in_full(self):
        output = "cpu: no CUDA device\nlabs/x.cu:3:5: error: expected ';'\n    3 | int\nerror: labs/x.cu does not compile\n"
        self.assertEqual(watch.essence(output, "lab02_smem"), output.splitlines()[1:])

    def test_trend(self):
        self.assertEqual(watch.trend((28, 2), (25, 5)), "; 3 more pass than before")
        self.assertEqual(watch.trend((20, 4), (25, 5)), "; 5 fewer pass than before")
        self.assertEqual(watch.trend((25, 3), (25, 5)), "; 2 fewer fail than before")
        self.assertEqual(watch.trend((25, 5), None), "")

    def test_a_long_output_keeps_its_ends(self):
        lines = [str(n) for n in range(100)]
        shown = watch.fit(lines, 10, Path("build/x.log"))
        self.assertEqual(len(shown), 10)
        self.assertEqual((shown[:2], shown[-1]), (["0", "1"], "99"))
        self.assertIn("91 more lines in build/x.log", shown[-2])


def on_its_terminal():
    """In the child: the terminal is its own, and Ctrl-C ends it, also where this test was begun in the background."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Running(unittest.TestCase):
    """make watch02 in a terminal, on a file of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "mine.cu"
        self.file.write_text(WRONG)
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "NO_COLOR")}
        self.terminal, inside = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.make = subprocess.Popen(
            ["make", "watch02", "BACKEND=cpu", "CASE=normal-7x33", f"FILE={self.file}"], cwd=ROOT, stdin=inside, stdout=inside, stderr=inside,
            env={**environment, "TERM": "xterm", "LADDER_PROGRESS": str(Path(folder.name) / "progress.json")}, start_new_session=True,
            preexec_fn=on_its_terminal)
        os.close(inside)
        self.addCleanup(self.end)
        self.seen = ""

    def end(self):
        if self.make.poll() is None:
            self.make.send_signal(signal.SIGTERM)
        self.make.wait(30)

    def read(self, wanted, seconds=240):
        """What the terminal shows up to `wanted`, from where the last read ended."""
        last = time.monotonic() + seconds
        while not re.search(wanted, self.seen):
            self.assertLess(time.monotonic(), last, f"{wanted} did not come: {self.seen}")
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
                except OSError:  # the other side is closed
                    break
        found = re.search(wanted, self.seen)
        self.assertIsNotNone(found, f"{wanted} did not come: {self.seen}")
        shown, self.seen = self.seen[:found.end()], self.seen[found.end():]
        return shown

    def save(self, text):
        """As an editor does that replaces the file."""
        new = self.file.with_suffix(".new")
        new.write_text(text)
        shutil.move(new, self.file)

    def test_saves_and_ctrl_c(self):
        shown = self.read("waiting for a save")
        self.assertIn("make watch02 CASE=normal-7x33", shown)
        self.assertIn("not right yet in ", shown)
        self.assertRegex(shown, r"\d\d:\d\d:\d\d  ")
        self.assertIn("far off", shown)
        self.save(RIGHT)
        shown = self.read("waiting for a save")
        self.assertTrue(re.search(r"right in [0-9.]+ s; 2 more pass than before", shown), shown)
        self.assertIn("\x1b[2J", shown, "the screen is cleared")
        self.save(RIGHT.replace("float max = lowest;", "float max = lowest", 1))
        shown = self.read("waiting for a save")
        self.assertIn("could not be tested", shown)
        self.assertIn("expected", shown)
        # A run that would take long ends with the next save.
        self.save(HANGS)
        self.read("testing ...")
        begun = time.monotonic()
        time.sleep(1)
        self.save(RIGHT)
        self.read("testing ...", 8)
        self.read("right in .*", 120)
        os.write(self.terminal, b"\x03")
        shown = self.read("ended\n")
        self.make.wait(30)
        self.assertNotIn("Traceback", shown + self.seen)
        self.assertNotIn("Error", shown + self.seen)

    def test_a_closed_terminal_leaves_no_run_behind(self):
        self.save(HANGS)
        mine = str(self.file.parent).encode()

        def at_work():
            found = []
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words = path.read_bytes()
                except OSError:
                    continue
                if mine in words and b"worker" in words:
                    found.append(path)
            return found

        last = time.monotonic() + 120
        while not at_work():
            self.assertLess(time.monotonic(), last, "the kernel that hangs was never run")
            time.sleep(0.1)
        self.make.send_signal(signal.SIGTERM)
        self.make.wait(30)
        time.sleep(1)
        self.assertEqual(at_work(), [])


class Refused(unittest.TestCase):
    def test_what_cannot_be_watched(self):
        for arguments in (["watch77"], ["watch02", "FILE=missing.cu"]):
            done = subprocess.run(["make", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout, "there is no lab '77'|missing.cu: no such file")


if __name__ == "__main__":
    unittest.main()
