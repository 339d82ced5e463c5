// Expect: fail
// Reason: there is no variant
// Least: 52
//
// Honest: A __device__ array of pointers to functions of the device.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
__device__ float by_exp(float v) { return expf(v); }
__device__ float by_exp2(float v) { return exp2f(v * 1.4426950408889634f); }
using F = float (*)(float);
__device__ F table[2] = {by_exp, by_exp2};
__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float max = -FLT_MAX, sum = 0;
  const float* in = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  for (int c = 0; c < cols; c++) max = fmaxf(max, in[c]);
  double all = 0;
  for (int c = 0; c < cols; c++) all += table[cols > 100000](in[c] - max);
  sum = all;
  for (int c = 0; c < cols; c++) out[c] = sum > 0 ? table[cols > 100000](in[c] - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("per_row", f32))
