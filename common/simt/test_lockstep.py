"""Steps on volatile shared memory that count on a warp in lockstep (lockstep.py): they give a GPU's results, and --check reports them."""

import unittest

import lockstep
from simtcc_testing import InFolder, run

# Sums by a tree, unrolled as M. Harris's sixth reduction, in a register as NVIDIA's samples had it, and in a loop; a scan, whose steps read
# what other lanes of lower numbers store.
PROGRAM = r"""
#include <cstdio>
template <int threads>
__device__ void fold(volatile int* sums, int t) {
  if (threads >= 64) sums[t] += sums[t + 32];
  if (threads >= 32) sums[t] += sums[t + 16];
  if (threads >= 16) sums[t] += sums[t + 8];
  sums[t] += sums[t + 4];
  sums[t] += sums[t + 2];
  sums[t] += sums[t + 1];
}
__device__ int scanned(volatile int* sums, int t) {
  const int lane = t & 31;
  if (lane >= 1) sums[t] = sums[t - 1] + sums[t];
  if (lane >= 2) sums[t] = sums[t - 2] + sums[t];
  if (lane >= 4) sums[t] = sums[t - 4] + sums[t];
  if (lane >= 8) sums[t] = sums[t - 8] + sums[t];
  if (lane >= 16) sums[t] = sums[t - 16] + sums[t];
  return sums[t];
}
__global__ void all(const int* in, int* out) {
  __shared__ int sums[64];
  const int t = threadIdx.x;
  int sum = sums[t] = in[t];
  __syncthreads();
  if (t < 32) fold<64>(sums, t);
  if (t == 0) out[0] = sums[0];
  __syncthreads();
  sums[t] = sum;
  __syncthreads();
  if (t < 32) {
    volatile int* of_warp = sums;
    of_warp[t] = sum = sum + of_warp[t + 32];
    of_warp[t] = sum = sum + of_warp[t + 16];
    for (int step = 8; step > 0; step /= 2) of_warp[t] += of_warp[t + step];
  }
  if (t == 0) out[1] = sums[0];
  __syncthreads();
  sums[t] = in[t];
  __syncthreads();
  out[2 + t] = scanned(sums, t);
}
int main() {
  int host[66], *memory;
  for (int i = 0; i < 64; i++) host[i] = i * 37 % 101;
  cudaMalloc(&memory, sizeof host * 2);
  cudaMemcpy(memory, host, 64 * sizeof(int), cudaMemcpyHostToDevice);
  all<<<1, 64>>>(memory, memory + 66);
  int out[66], sum = 0, of_warp = 0;
  cudaMemcpy(out, memory + 66, sizeof out, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 64; i++) {
    sum += host[i];
    of_warp = i % 32 ? of_warp + host[i] : host[i];
    right &= out[2 + i] == of_warp;
  }
  std::puts(right && out[0] == sum && out[1] == sum ? "PASS" : "FAIL");
}
"""


class Steps(unittest.TestCase):
    def found(self, code: str) -> list[str]:
        return [code[step.begin:step.end] for step in lockstep.steps(code)]

    def test_those_that_follow_each_other(self):
        self.assertEqual(self.found("void f(volatile float* s) { s[t] += s[t + 2]; s[t] += s[t + 1]; }"), ["s[t] += s[t + 2];", "s[t] += s[t + 1];"])

    def test_one_in_a_loop(self):
        self.assertEqual(self.found("void f(volatile float* s) { for (int k = 16; k; k /= 2) { if (t < k) s[t] += s[t + k]; } }"), ["s[t] += s[t + k];"])

    def test_with_a_barrier_none(self):
        for code in ("{ s[t] += s[t + 2]; __syncwarp(); s[t] += s[t + 1]; }", "{ for (int k = 16; k; k /= 2) { s[t] += s[t + k]; __syncthreads(); } }",
                     "{ s[t] += s[t + 1]; }", "{ while (s[t] == s[t + 1]) {} }"):
            self.assertEqual(self.found(f"void f(volatile float* s) {code}"), [], code)
        self.assertEqual(self.found("void f(float* s) { s[t] += s[t + 2]; s[t] += s[t + 1]; }"), [])


class InLockstep(InFolder):
    def test_results_are_a_gpus_and_the_check_reports_the_race(self):
        self.write("a.cu", PROGRAM)
        said = self.builds("a.cu", "-o", "plain")
        self.assertIn("a.cu:5: warning: volatile sums without __syncwarp() between the steps", said)
        self.assertEqual(run("plain", self.folder).stdout, "PASS\n")
        self.builds("--check", "a.cu", "-o", "checked")
        ended = run("checked", self.folder)
        self.assertEqual(ended.returncode, 134, ended.stdout)
        self.assertRegex(ended.stdout, r"racecheck: race in shared memory .* at \S*a\.cu:6\n")
        self.assertIn("__syncwarp()", ended.stdout)


if __name__ == "__main__":
    unittest.main()
