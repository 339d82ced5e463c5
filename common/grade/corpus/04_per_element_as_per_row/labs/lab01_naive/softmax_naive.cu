// Entry: 4
// Expect: fail
// Reason: the move: a thread has a row of its own
// Most: 60
//
// 32 threads share a row, and each of them goes over all of it, under the name per_row.

#include <cfloat>

#include "rung.h"

__global__ void kernel(const float* x, float* y, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = threadIdx.x; c < cols; c += 32) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", softmax))
