"""Kernels that live on shared memory (programs/shared): the executor's counts against what ncu read on an H200."""

import json
import os
import subprocess
import unittest

from simtcc_testing import SIMT, InFolder, simtcc

PROGRAM = SIMT / "programs/shared/shared_loads.cu"
# nvcc takes a load out of both sides of a branch, which the executor cannot know; the hardware counts stores that wait for global loads again.
LOADS, STORES = {"scan_block": 0.04}, {"tile_2d": 0.14, "tile_2d_float4": 0.03}


class SharedMemory(InFolder):
    def test_counts_are_those_of_an_h200(self):
        read = json.loads(PROGRAM.with_name("shared_loads-nvidia-h200.json").read_text())["kernels"]
        made = simtcc("--profile", PROGRAM, "-o", "counted", folder=self.folder)
        self.assertEqual(made.returncode, 0, made.stdout)
        subprocess.run([os.path.join(self.folder, "counted")], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SIMT_PROFILE": os.path.join(self.folder, "counts.json")})
        with open(os.path.join(self.folder, "counts.json"), encoding="utf-8") as file:
            counted = {launch["kernel"]: launch["total"] for launch in json.load(file)["launches"]}
        self.assertEqual(counted.keys(), read.keys())
        for kernel, readings in read.items():
            for name, value in readings.items():
                off = LOADS.get(kernel, 0) if "shared_op_ld" in name else STORES.get(kernel, 0) if "shared_op_st" in name else 0
                with self.subTest(kernel=kernel, counter=name):
                    self.assertAlmostEqual(counted[kernel][name], value, delta=off * value)


if __name__ == "__main__":
    unittest.main()
