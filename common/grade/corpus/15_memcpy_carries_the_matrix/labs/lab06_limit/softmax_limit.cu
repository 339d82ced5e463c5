// Entry: 15
// Expect: fail
// Reason: one thread makes
// Most: 35
//
// cudaMemcpy moves the matrix to the result, and kernels work there in place: reads that are writes of somebody else.

#include <cfloat>
#include <cmath>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__global__ void kernel(float* y, int cols) {
  if (threadIdx.x == 0) whole_row(y + static_cast<size_t>(blockIdx.x) * cols, y + static_cast<size_t>(blockIdx.x) * cols, cols);
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  cudaMemcpyAsync(y, x, static_cast<size_t>(rows) * cols * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  kernel<<<rows, 32, 0, stream>>>(y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
