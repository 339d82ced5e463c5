"""What the tests of simtcc share: a folder of their own, programs written, compiled and run there."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SIMT = Path(__file__).resolve().parent
sys.path.insert(0, str(SIMT.parent))
from course.sampling import has_list, in_turn, left_to_rest, sampled  # noqa: E402, F401: for the tests

SIMTCC = SIMT / "simtcc"


def simtcc(*arguments, folder):
    return subprocess.run([sys.executable, SIMTCC, *arguments], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def run(program, folder, **environment):
    return subprocess.run([Path(folder) / program], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment}, timeout=60)


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def builds(self, *arguments):
        made = simtcc(*arguments, folder=self.folder)
        self.assertEqual(made.returncode, 0, made.stdout)
        return made.stdout

    def refuses(self, *arguments):
        made = simtcc(*arguments, folder=self.folder)
        self.assertNotEqual(made.returncode, 0, "it compiled")
        return made.stdout


KERNEL = "__global__ void k(int* x) { x[threadIdx.x] = threadIdx.x; }\n"
