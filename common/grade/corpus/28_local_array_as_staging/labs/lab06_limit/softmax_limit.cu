// Entry: 28
// Expect: fail
// Reason: one thread makes
// Most: 20
//
// One thread per row keeps the row in an array of its own, which is local memory: read once, three times over.

#include <cfloat>
#include <cmath>

#include "rung.h"

__global__ void kernel(const float* x, float* y, int cols) {
  float row[8192];
  if (threadIdx.x) return;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, row[c] = x[c]);
  for (int c = 0; c < cols; c++) sum += row[c] = expf(row[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? row[c] / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (cols > 8192) return cudaErrorInvalidValue;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
