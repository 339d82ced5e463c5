"""The programs in programs/public, written as public repositories write theirs: each plain, under --check and under --profile.
Each compares its results with the host's and ends with PASS."""

import os
import re
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from simtcc_testing import SIMT, run, simtcc

MODES = {"plain": [], "check": ["--check"], "profile": ["--profile"]}


class PublicPrograms(unittest.TestCase):
    def test_each_is_right_in_every_mode(self):
        programs = sorted((SIMT / "programs/public").glob("*.cu"))
        self.assertTrue(programs)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
            def make_and_run(job):
                program, mode = job
                name = f"{program.stem}-{mode}"
                made = simtcc(*MODES[mode], program, "-o", name, folder=folder)
                return made if made.returncode else run(name, folder)

            jobs = [(program, mode) for program in programs for mode in MODES]
            for (program, mode), result in zip(jobs, pool.map(make_and_run, jobs)):
                with self.subTest(program=program.name, mode=mode):
                    self.assertEqual(result.returncode, 0, result.stdout)
                    self.assertRegex(result.stdout, re.compile("^PASS$", re.MULTILINE))
                    self.assertNotIn("FAIL", result.stdout)


if __name__ == "__main__":
    unittest.main()
