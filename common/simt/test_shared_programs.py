"""Kernels that live on shared memory, and accesses of all kinds (programs/shared): the executor's counts against what ncu read on an H200."""

import json
import os
import subprocess
import unittest

from simtcc_testing import SIMT, InFolder, in_turn, simtcc

PROGRAMS = SIMT / "programs/shared"
# nvcc takes a load out of both sides of a branch, which the executor cannot know; the hardware counts stores that wait for global loads again.
LOADS, STORES = {"scan_block": 0.04}, {"tile_2d": 0.14, "tile_2d_float4": 0.03}
# Counters of these kernels are not the GPU's, for a reason that README.md gives.
WIDTH, UNROLLED, ALONE, ADDED, LOOP, KEPT = ("the width of a structure's copies", "an unrolled loop of different lengths", "the elements of a vector that are used",
                                             "atomics that nvcc adds up in a warp", "an atomic that is a loop of exchanges", "a value kept across an atomic")
DIFFERENT = {
    "copies<double3>": {"global_op_ld": WIDTH, "global_op_st": WIDTH}, "sparse_rows": {"global_op_ld": UNROLLED}, "read_only": {"global_op_ld": ALONE},
    "histogram": {"shared_op_atom": ADDED}, "compacted": {"sectors_pipe_lsu_mem_global_op_atom": ADDED},
    "floats_shared_atomics": {"shared_op_atom": LOOP, "wavefronts_mem_shared_op_ld": LOOP},
    "shared_maximum": {"shared_op_atom": ADDED, "global_op_ld": KEPT, "wavefronts_mem_shared_op": "neighbouring variables, which nvcc joins"},
    "scanned": {"shared_op_ld": "neighbours in an unrolled loop", "shared_op_st": "stores that nvcc joins"},
    "inserted": {"sectors_pipe_lsu_mem_global_op_atom": "exchanges on one address, in 3 of 9906 sectors"},
    "shared_words": {"shared_op_atom": LOOP, "wavefronts_mem_shared_op_ld": LOOP, "global_op_ld": KEPT},
    "ranked": {"shared_op_atom": ADDED},
}


class SharedMemory(InFolder):
    def counted(self, program):
        """By kernel, and what was read on the GPU."""
        made = simtcc("--profile", PROGRAMS / f"{program}.cu", "-o", program, folder=self.folder)
        self.assertEqual(made.returncode, 0, made.stdout)
        counts = os.path.join(self.folder, f"{program}.json")
        subprocess.run([os.path.join(self.folder, program)], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SIMT_PROFILE": counts})
        with open(counts, encoding="utf-8") as file:
            counted = {launch["kernel"]: launch["total"] for launch in json.load(file)["launches"]}
        read = json.loads((PROGRAMS / f"{program}-nvidia-h200.json").read_text())["kernels"]
        self.assertEqual(counted.keys(), read.keys())
        return counted, read

    @in_turn(2)
    def test_counts_are_those_of_an_h200(self):
        counted, read = self.counted("shared_loads")
        for kernel, readings in read.items():
            for name, value in readings.items():
                off = LOADS.get(kernel, 0) if "shared_op_ld" in name else STORES.get(kernel, 0) if "shared_op_st" in name else 0
                with self.subTest(kernel=kernel, counter=name):
                    self.assertAlmostEqual(counted[kernel][name], value, delta=off * value)

    @in_turn(2)
    def test_accesses_of_all_kinds(self):
        for program in ("access_kinds", "access_patterns"):
            counted, read = self.counted(program)
            for kernel, readings in read.items():
                known = DIFFERENT.get(kernel, {})
                for name, value in counted[kernel].items():
                    if name.startswith("l1tex") and not any(part in name for part in known):
                        with self.subTest(kernel=kernel, counter=name):
                            self.assertEqual(value, readings.get(name, 0))
                for part, why in known.items():
                    names = [name for name in counted[kernel] if name.startswith("l1tex") and part in name]
                    with self.subTest(kernel=kernel, counters=part, reason=why):
                        self.assertTrue(any(counted[kernel][name] != readings.get(name, 0) for name in names), "equal now: take it out of DIFFERENT")


if __name__ == "__main__":
    unittest.main()
