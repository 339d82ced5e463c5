// Expect: fail
// Reason: there is no variant
// Least: 52
//
// Honest: An object with virtual functions, in the kernel's local memory.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
struct Op {
  virtual __device__ float f(float v) const = 0;
  virtual __device__ ~Op() {}
};
struct Exp : Op {
  __device__ float f(float v) const override { return expf(v); }
};
__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  Exp op;
  const Op& any = op;
  float max = -FLT_MAX, sum = 0;
  const float* in = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  for (int c = 0; c < cols; c++) max = fmaxf(max, in[c]);
  double all = 0;
  for (int c = 0; c < cols; c++) all += any.f(in[c] - max);
  sum = all;
  for (int c = 0; c < cols; c++) out[c] = sum > 0 ? any.f(in[c] - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("per_row", f32))
