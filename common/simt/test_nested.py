"""Kernels that launch kernels (children.h), with -rdc=true as nvcc asks for."""

import re

from simtcc_testing import InFolder, run

# Quicksort, a launch for each part, on streams of their own; memory that a kernel allocates and another one frees; a launch that is to come
# last.
PROGRAM = r"""
#include <cmath>
#include <cstdio>
#include <cstdlib>
__global__ void sort(unsigned* values, int first, int last) {
  unsigned *low = values + first, *high = values + last, middle = values[(first + last) / 2];
  while (low <= high) {
    while (*low < middle) low++;
    while (*high > middle) high--;
    if (low <= high) {
      const unsigned kept = *low;
      *low++ = *high;
      *high-- = kept;
    }
  }
  if (values + first < high) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sort<<<1, 1, 0, stream>>>(values, first, high - values);
    cudaStreamDestroy(stream);
  }
  if (low < values + last) sort<<<1, 1, 0, cudaStreamFireAndForget>>>(values, low - values, last);
}
struct Row {
  float* at;
  int count;
};
__global__ void fill(Row* rows, int row) {
  if (threadIdx.x < rows[row].count) rows[row].at[threadIdx.x] = row;
}
__global__ void add(Row* rows, int count, float* sums) {
  const int row = blockIdx.x;
  if (row >= count) return;
  float sum = 0;
  for (int i = 0; i < rows[row].count; i++) sum += rows[row].at[i];
  sums[row] = sum;
  cudaFree(rows[row].at);
}
__global__ void make(Row* rows, int count, float* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  if (row == 0) add<<<count, 1, 0, cudaStreamTailLaunch>>>(rows, count, sums);
  rows[row].count = row % 29 + 1;
  cudaMalloc(reinterpret_cast<void**>(&rows[row].at), rows[row].count * sizeof(float));
  fill<<<ceilf(rows[row].count / 32.0f), 32>>>(rows, row);
  if (cudaGetLastError() != cudaSuccess) printf("FAIL: not launched\n");
}
template <int each>
__global__ void count_down(int* left) {
  if (threadIdx.x == 0 && atomicSub(left, each) > each)
    count_down<each>
        <<<1, 32>>>(left);
}
int main() {
  constexpr int many = 500, count = 100;
  unsigned* values;
  Row* rows;
  float* sums;
  cudaMallocManaged(&values, many * sizeof *values);
  cudaMalloc(&rows, count * sizeof *rows);
  cudaMallocManaged(&sums, count * sizeof *sums);
  for (int i = 0; i < many; i++) values[i] = rand() % 300;
  sort<<<1, 1>>>(values, 0, many - 1);
  make<<<2, 64>>>(rows, count, sums);
  int* left;
  cudaMallocManaged(&left, sizeof *left);
  *left = 12;
  count_down<3><<<1, 32>>>(left);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  right &= *left == 0;
  for (int i = 1; i < many; i++) right &= values[i - 1] <= values[i];
  for (int row = 0; row < count; row++) right &= sums[row] == row * (row % 29 + 1);
  std::puts(right ? "PASS" : "FAIL");
}
"""


class Nested(InFolder):
    def test_children_run_before_their_parent_is_complete(self):
        self.write("a.cu", PROGRAM)
        for mode in ([], ["--check"], ["--profile"]):
            with self.subTest(mode=mode):
                self.builds(*mode, "-rdc=true", "a.cu", "-o", "a")
                ended = run("a", self.folder)
                self.assertEqual(ended.returncode, 0, ended.stdout)
                self.assertIn("PASS\n", ended.stdout)
                self.assertNotIn("FAIL", ended.stdout)
        self.assertRegex(ended.stdout, re.compile(r"^fill +1 +32 +100 ", re.MULTILINE))

    def test_a_mistake_of_a_child_is_found_there(self):
        self.write("a.cu", PROGRAM.replace("if (threadIdx.x < rows[row].count) rows", "rows"))
        self.builds("--check", "-rdc=true", "a.cu", "-o", "a")
        ended = run("a", self.folder)
        self.assertEqual(ended.returncode, 134, ended.stdout)
        self.assertRegex(ended.stdout, r"memcheck: out of bounds in global memory .* at \S*a\.cu:29\n")

    def test_without_rdc_it_is_refused_as_nvcc_does(self):
        self.write("a.cu", PROGRAM)
        self.assertIn("a.cu:19:2: error: #error without -rdc=true (nvcc needs it, too), dynamic parallelism", self.refuses("a.cu"))
