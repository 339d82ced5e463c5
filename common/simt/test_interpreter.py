#!/usr/bin/env python3
"""An older python3 stands first on the PATH: simtcc, and what it and its programs start, run on another one."""

import os
import re
import subprocess
import sys
import unittest

from simtcc_testing import KERNEL, SIMT, SIMTCC, InFolder, run

# Says that it is 3.8, has no tomllib, and leaves a line for each file that it was to run.
OLDER = """#!/bin/sh
echo "$1" >>"$OLDER_RAN"
exec {python} -c 'import runpy, sys
sys.version_info = (3, 8, 18, "final", 0)
sys.modules["tomllib"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
"""


class Interpreter(InFolder):
    def setUp(self):
        super().setUp()
        self.write("bin/python3", OLDER.format(python=sys.executable))
        (self.folder / "bin/python3").chmod(0o755)
        self.ran = self.folder / "ran"
        self.environment = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "OLDER_RAN": str(self.ran)}

    def test_profile(self):
        self.write("main.cu", KERNEL + "int main() { int* x; cudaMallocManaged(&x, 128); k<<<1, 32>>>(x); return cudaDeviceSynchronize(); }\n")
        environment = {**os.environ, **self.environment, "LADDER_PYTHON": sys.executable}
        made = subprocess.run([SIMTCC, "--profile", "main.cu", "-o", "program"], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment)
        self.assertEqual((made.returncode, made.stdout), (0, ""))
        done = run("program", self.folder, **self.environment)
        self.assertIn("k  1 block of 32 threads", done.stdout)
        self.assertEqual(self.ran.read_text(), f"{SIMTCC}\n")

    def test_nothing_else_names_a_python3(self):
        for path in (*SIMT.glob("start/*.cpp"), SIMT.parent / "docs/Doxyfile"):
            with self.subTest(path):
                self.assertIsNone(re.search(r"(?<!\w)python3 ", path.read_text()))


if __name__ == "__main__":
    unittest.main()
