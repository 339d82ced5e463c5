"""Thread block clusters (programs/clusters): right in every mode, and what is left out of them is found."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

from simtcc_testing import SIMT, InFolder, has_list, run, sampled, simtcc

PROGRAMS = SIMT / "programs/clusters"
MODES = {"plain": [], "check": ["--check"], "profile": ["--profile"]}

# A program, what its compilation defines, and what --check finds.
WRONG = [
    ("histogram", "NO_BEGIN", ["racecheck: race in shared memory", "histogram.cu:16", "histogram.cu:25"]),
    ("histogram", "NO_END", ["racecheck: race in shared memory", "histogram.cu:32", "histogram.cu:25"]),
    ("histogram", "PLAIN_ADD", ["racecheck: race in shared memory", "as in x += 1, no barrier helps"]),
    ("ptx_barriers", "NO_WAIT", ["ptx_barriers.cu:28", "shared memory"]),
    ("row_maximum", "NO_LAST", ["memcheck: shared memory of a block that has ended", "the variable own in the shared memory of block (0,0,0)"]),
    ("row_maximum", "NO_MIDDLE", ["memcheck: shared memory of a block that has not begun", "row_maximum.cu:39"]),
    ("row_maximum", "RACE", ["racecheck: race in shared memory in block (1,0,0)", "thread (0,0,0) of block (0,0,0)", "is there a cluster.sync()"]),
    ("row_maximum", "PAST_END", ["memcheck: out of bounds in shared memory", "It is the shared memory of block"]),
]


class Clusters(InFolder):
    @has_list
    def test_each_is_right_in_every_mode(self):
        jobs = sampled([(program, mode) for program in sorted(PROGRAMS.glob("*.cu")) for mode in MODES], 2, "programs with clusters, in one of 3 modes")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = pool.map(lambda job: simtcc(*MODES[job[1]], job[0], "-o", f"{job[0].stem}-{job[1]}", folder=self.folder), jobs)
            for (program, mode), build in zip(jobs, made):
                with self.subTest(program=program.name, mode=mode):
                    self.assertEqual(build.returncode, 0, build.stdout)
                    result = run(f"{program.stem}-{mode}", self.folder)
                    self.assertEqual(result.returncode, 0, result.stdout)
                    self.assertIn("PASS", result.stdout)

    @has_list
    def test_what_is_left_out_is_found(self):
        def build(number):
            program, defined, _ = WRONG[number]
            return simtcc("--check", f"-D{defined}", PROGRAMS / f"{program}.cu", "-o", f"wrong{number}", folder=self.folder)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            numbers = sampled(range(len(WRONG)), 4, "of these programs with one part left out")
            for number, made in zip(numbers, pool.map(build, numbers)):
                program, defined, findings = WRONG[number]
                with self.subTest(program=program, defined=defined):
                    self.assertEqual(made.returncode, 0, made.stdout)
                    result = run(f"wrong{number}", self.folder)
                    self.assertNotEqual(result.returncode, 0, result.stdout)
                    for finding in findings:
                        self.assertIn(finding, result.stdout)


if __name__ == "__main__":
    unittest.main()
