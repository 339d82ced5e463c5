"""What blocks want from one part of L2, and what one block on a multiprocessor leaves to others, as comparisons of launches that differ in that alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEAD = 'extern "C" __global__ void k_%s(const unsigned* x, unsigned* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; '
# 4224 blocks of 128 threads: twice as many as an H200 runs at one time.
TABLE = "unsigned h = i * 2654435761u >> 12; atomicAdd((float*)y + %s * 65536 + (h & 63), 1.0f); }"
KERNELS = {
    "table_of_neighbours": (TABLE % "(blockIdx.x / 528)", "4224, 128"),
    "table_of_each_eighth": (TABLE % "(blockIdx.x % 8)", "4224, 128"),
    "adds_to_256_bytes": ("unsigned h = i * 2654435761u >> 12; atomicAdd(y + (h & 63), x[i]); }", "2048, 256"),
    "adds_to_512_bytes": ("unsigned h = i * 2654435761u >> 12; atomicAdd(y + (h & 127), x[i]); }", "2048, 256"),
    "adds_once": ("for (int k = 0; k < 8; k++) atomicAdd(y + i + k * 262144, 1u); }", "1024, 256"),
    "stores_once": ("for (int k = 0; k < 8; k++) y[i + k * 262144] = 1u; }", "1024, 256"),
    # Each block adds to 256 bytes of its own, or to those that 32 blocks far from each other have in common.
    "adds_to_its_own": ("for (int k = 0; k < 8; k++) atomicAdd((float*)y + blockIdx.x * 64 + (threadIdx.x & 63), 1.0f); }", "8192, 128"),
    "adds_with_others": ("for (int k = 0; k < 8; k++) atomicAdd((float*)y + (blockIdx.x & 255) * 64 + (threadIdx.x & 63), 1.0f); }", "8192, 128"),
    # First what DRAM has, then what L2 has. One block on a multiprocessor at a time, or two.
    "alone": ("extern __shared__ unsigned s[]; unsigned h = 0; const uint4 *all = (const uint4*)x, *own = all + (blockIdx.x & 511) * 8192; "
              "for (int k = threadIdx.x; k < 8192; k += 1024) h += own[k].x; s[threadIdx.x] = h; __syncthreads(); "
              "for (int k = threadIdx.x; k < 24576; k += 1024) h += all[k].x; y[i] = h + s[threadIdx.x ^ 1]; }", "528, 1024, 150 << 10"),
}
# 64 blocks with much to do, alone and before thousands that have nothing.
KERNELS["few_blocks"] = ("if (i >= 16384) return; unsigned h = 0; for (int k = 0; k < 1000; k++) h = h * 5u + x[(h + k) & 1023]; y[i] = h; }", "64, 256")
KERNELS["few_of_many"] = (KERNELS["few_blocks"][0], "65536, 256")
# Seven counters, whose lanes take turns, and 32, which have one each.
KERNELS["seven_counters"] = ("unsigned h = i * 2654435761u >> 12; atomicAdd(y + h % 7, x[i]); }", "2048, 256")
KERNELS["32_counters"] = ("atomicAdd(y + (i & 31), x[i]); }", "2048, 256")
# All threads of a block add to one address that the block's number says, or one that a thread's does.
KERNELS["one_of_a_block"] = ("atomicAdd(y + blockIdx.x % 64 * 3, x[i]); }", "2048, 256")
KERNELS["one_of_threads"] = ("atomicAdd(y + i / 256 % 64 * 3, x[i]); }", "2048, 256")
KERNELS["beside_others"] = (KERNELS["alone"][0], "528, 1024, 50 << 10")


class SharedByBlocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file, program, report = (Path(folder.name, name) for name in ("a.cu", "a", "report.json"))
        large = "\n".join(f"  cudaFuncSetAttribute(k_{name}, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10);" for name in ("alone", "beside_others"))
        file.write_text("".join(HEAD % name + body + "\n" for name, (body, _) in KERNELS.items()) +
                        "int main() {\n  unsigned *x, *y;\n  cudaMalloc(&x, 64 << 20); cudaMalloc(&y, 64 << 20); cudaMemset(x, 0, 64 << 20);\n" + large + "\n" +
                        "\n".join(f"  k_{name}<<<{shape}>>>(x, y);" for name, (_, shape) in KERNELS.items()) + "\n  return cudaDeviceSynchronize();\n}\n")
        for command in ([sys.executable, ROOT / "common/simt/simtcc", "--profile", file, "-o", program], [program]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "SIMT_GPU": "h200", "SIMT_PROFILE": str(report)})
            if done.returncode:
                raise AssertionError(done.stderr)
        cls.predicted = {name: launch["predicted"] for name, launch in zip(KERNELS, json.loads(report.read_text())["launches"])}

    def ratio(self, slow: str, fast: str) -> float:
        return self.predicted[slow]["seconds"] / self.predicted[fast]["seconds"]

    def test_neighbours_that_fill_one_table_wait_for_each_other(self):
        self.assertGreater(self.ratio("table_of_neighbours", "table_of_each_eighth"), 1.5)

    def test_every_other_256_bytes_are_of_another_part_of_l2(self):
        self.assertLess(self.ratio("adds_to_512_bytes", "adds_to_256_bytes"), 1.2)

    def test_atomics_read_what_l2_does_not_have(self):
        self.assertGreater(self.ratio("adds_once", "stores_once"), 1.3)

    def test_blocks_with_places_of_their_own_do_not_wait_for_each_other(self):
        self.assertGreater(self.ratio("adds_with_others", "adds_to_its_own"), 5)

    def test_what_a_block_alone_leaves_of_its_share_it_uses_later(self):
        self.assertLess(self.ratio("alone", "beside_others"), 1.15)

    def test_blocks_that_have_nothing_to_do_stand_for_no_others(self):
        self.assertLess(self.ratio("few_of_many", "few_blocks"), 1.5)

    def test_lanes_with_one_address_take_turns_in_l2(self):
        self.assertGreater(self.ratio("seven_counters", "32_counters"), 1.4)

    def test_a_warp_adds_up_first_what_goes_to_the_address_of_a_block(self):
        self.assertGreater(self.ratio("one_of_threads", "one_of_a_block"), 3)


if __name__ == "__main__":
    unittest.main()
