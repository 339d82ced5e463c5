"""Saved launches (trace_file.h): evaluate predicts them, and says of files that are not of this build what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "__global__ void k(float* y) { y[threadIdx.x] = 1; }\nint main() { float* y; cudaMalloc(&y, 1 << 12); k<<<1, 64>>>(y); return cudaDeviceSynchronize(); }\n"


class SavedTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file, program, cls.traces = (Path(folder.name, name) for name in ("a.cu", "a", "a.traces"))
        file.write_text(PROGRAM)
        for command in (["make", "-s", "-f", "common/build/rules.mk", "build/cpu/evaluate"], [sys.executable, "common/simt/simtcc", "--profile", file, "-o", program], [program]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "SIMT_GPU": "h200", "SIMT_SAVE_TRACES": str(cls.traces)})
            if done.returncode:
                raise AssertionError(done.stderr)

    def evaluate(self, saved: bytes) -> subprocess.CompletedProcess:
        file = self.traces.with_name("b.traces")
        file.write_bytes(saved)
        return subprocess.run(["build/cpu/evaluate", file, "common/simt/timing/machines/h200.json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_launches_of_this_build_are_predicted(self):
        done = self.evaluate(2 * self.traces.read_bytes())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_launches_of_another_build_are_refused(self):
        for saved in (self.traces.read_bytes()[8:], bytes([1]) + self.traces.read_bytes()[1:]):  # from before launches had a format, and another one
            done = self.evaluate(saved)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, "evaluate: these launches are not of this build: build the program again with its simtcc, and save them into a new file\n")

    def test_half_a_launch_is_refused(self):
        saved = self.traces.read_bytes()
        for size in (12, len(saved) // 2, len(saved) - 1):
            done = self.evaluate(saved[:size])
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, "evaluate: the file ends within a launch: save the launches again, into a new file\n")


if __name__ == "__main__":
    unittest.main()
