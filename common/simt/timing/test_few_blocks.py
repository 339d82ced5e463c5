"""What a warp that is nearly alone waits for, as comparisons of launches of one block that differ in that alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# A power and a quotient in each round, of what shared memory has.
POWERS = ("__shared__ float s[64]; if (threadIdx.x < 64) s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); float v = x[threadIdx.x], sum = 0; "
          "for (int k = 0; k < n; k++) { float d = v - s[k & 63]; sum += 1.0f / powf(d * d + 1.5f, v) * s[k + 1 & 63]; } y[threadIdx.x] = sum;")
# Each lane loads from the same bank. An H200 takes 64.4 cycles for a load of one warp and 129.1 for those of four, one of each scheduler.
CONFLICTS = "__shared__ float s[1024]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); float sum = 0; for (int k = 0; k < n; k++) sum += s[(threadIdx.x & 31) * 32 + (k * 5 & 31)]; y[threadIdx.x] = sum;"
# Rows of shared memory: four neighbouring words are one load if they surely begin at a multiple of 16 bytes.
ROWS = ("__shared__ float s[2048]; for (int i = threadIdx.x; i < 2048; i += blockDim.x) s[i] = x[i]; __syncthreads(); const int d = %s; float sum = 0; "
        "for (int k = 0; k < n; k++) { __syncthreads(); for (int c = 0; c < d; c++) sum += s[threadIdx.x * d + c]; } y[threadIdx.x] = sum;")
# name: body and threads. A multiprocessor has four schedulers: 4 warps are one of each, 8 are two.
KERNELS = {"powers_alone": (POWERS, 128), "powers_by_two": (POWERS, 256), "conflicts_alone": (CONFLICTS, 32), "conflicts_by_four": (CONFLICTS, 128),
           "rows_of_64": (ROWS % "64", 32), "rows_of_any_width": (ROWS % "n / 16", 32)}


class FewBlocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file, program, report = (Path(folder.name, name) for name in ("a.cu", "a", "report.json"))
        file.write_text("".join(f'extern "C" __global__ void k_{name}(const float* __restrict__ x, float* __restrict__ y, int n) {{ {body} }}\n' for name, (body, _) in KERNELS.items()) +
                        "int main() {\n  float *x, *y;\n  cudaMalloc(&x, 1 << 20); cudaMalloc(&y, 1 << 20); cudaMemset(x, 0, 1 << 20);\n" +
                        "\n".join(f"  k_{name}<<<1, {threads}>>>(x, y, 1024);" for name, (_, threads) in KERNELS.items()) + "\n  return cudaDeviceSynchronize();\n}\n")
        for command in ([sys.executable, ROOT / "common/simt/simtcc", "--profile", file, "-o", program], [program]):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "SIMT_GPU": "h200", "SIMT_PROFILE": str(report)})
            if done.returncode:
                raise AssertionError(done.stderr)
        cls.seconds = {name: launch["predicted"]["seconds"] for name, launch in zip(KERNELS, json.loads(report.read_text())["launches"])}

    def ratio(self, slow: str, fast: str) -> float:
        return self.seconds[slow] / self.seconds[fast]

    def test_two_warps_of_a_scheduler_are_in_long_functions_at_the_same_time(self):
        self.assertLess(self.ratio("powers_by_two", "powers_alone"), 1.15)

    def test_conflicts_cost_one_scheduler_twice_what_they_cost_the_multiprocessor(self):
        self.assertAlmostEqual(self.ratio("conflicts_by_four", "conflicts_alone"), 2, delta=0.2)

    def test_words_are_joined_only_where_their_alignment_is_known(self):
        self.assertGreater(self.ratio("rows_of_any_width", "rows_of_64"), 1.5)


if __name__ == "__main__":
    unittest.main()
