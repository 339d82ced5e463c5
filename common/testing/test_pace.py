"""How long a run takes: said where cases are left out, shown on a terminal while a long case runs, and not in a log."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from course import runs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RUNG = "build/cpu/solutions/lab01_naive/softmax_naive.so"


class Pace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["make", "-s", "-f", "common/build/rules.mk", "build/cpu/tests/lab01_naive", "build/cpu/worker", RUNG],
                       cwd=ROOT, check=True)

    def start(self, output: int, case: str = "", **variables: str) -> subprocess.Popen:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        request = Path(folder.name) / "request.json"
        runs.write_request(request, {"rung": RUNG, "file": "solutions/lab01_naive/softmax_naive.cu", "case": case})
        return subprocess.Popen(["build/cpu/tests/lab01_naive", request], cwd=ROOT, env={**os.environ, "BACKEND": "cpu", **variables},
                                stdin=subprocess.DEVNULL, stdout=output)

    def test_in_a_log(self):
        child = self.start(subprocess.PIPE)
        output = child.communicate(timeout=300)[0].decode()
        self.assertRegex(output, r"\n    20 wide cases left out: its time grows with cols\^2\. make lab01 SOLUTION=1 CASES=all runs them, "
                                 r"in about \d+ (s|min)\n")
        self.assertRegex(output, r"\nper_element f32   widths     11 cases  ok ")
        self.assertNotIn("\r", output)
        self.assertNotIn("case 1 of", output)

    def test_on_a_terminal(self):
        here, there = pty.openpty()
        child = self.start(there, case="*x1024", NO_COLOR="1")
        os.close(there)
        output = b""
        while True:
            try:
                part = os.read(here, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            output += part
        os.close(here)
        self.assertEqual(child.wait(timeout=60), 0)
        shown = re.findall(r"\r\x1b\[K([^\r]*)", output.decode())
        self.assertTrue(any(re.match(r"per_element f32 / widths / normal-7x1024: case \d+ of \d+", line) for line in shown), shown)
        self.assertRegex(output.decode(), r"\r\x1b\[Kper_element f32   rows  +\d+ cases? +ok ", "the line is taken away")


if __name__ == "__main__":
    unittest.main()
