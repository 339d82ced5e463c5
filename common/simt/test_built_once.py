#!/usr/bin/env python3
"""Several simtcc at one time: one of them builds what of the executor is not built yet, and the others wait for it."""

import fcntl
import subprocess
import sys
import unittest

from simtcc_testing import SIMT, SIMTCC, InFolder


class BuiltOnce(InFolder):
    def test_the_others_wait(self):
        self.write("main.cu", "int main() {}\n")
        with open(SIMT.parents[1] / "build/simtcc.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = subprocess.Popen([sys.executable, SIMTCC, "-c", "main.cu"], cwd=self.folder)
            self.addCleanup(made.kill)
            with self.assertRaises(subprocess.TimeoutExpired):
                made.wait(5)
        self.assertEqual(made.wait(120), 0)
        self.assertTrue((self.folder / "main.o").exists())


if __name__ == "__main__":
    unittest.main()
