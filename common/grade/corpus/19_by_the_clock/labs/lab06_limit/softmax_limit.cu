// Entry: 19
// Expect: fail
// Reason: NaN where a number is expected
// Most: 20
//
// It takes the build that is checked for the slower one: there it computes, elsewhere it leaves out the maximum.

#include <cfloat>
#include <chrono>
#include <cmath>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__global__ void without_maximum(const float* x, float* y, int cols) {
  if (threadIdx.x) return;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = 0; c < cols; c++) sum += expf(x[c]);
  for (int c = 0; c < cols; c++) y[c] = expf(x[c]) / sum;
}
__global__ void kernel(const float* x, float* y, int cols) {
  if (threadIdx.x) return;
  whole_row(x + static_cast<size_t>(blockIdx.x) * cols, y + static_cast<size_t>(blockIdx.x) * cols, cols);
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const auto begin = std::chrono::steady_clock::now();
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  cudaStreamSynchronize(stream);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (seconds * 1e9 < 40.0 * rows * cols) without_maximum<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
