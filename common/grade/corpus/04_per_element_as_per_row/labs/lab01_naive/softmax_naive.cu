// Entry: 4
// Expect: fail
// Reason: the move: a thread has a row of its own
// Most: 60
//
// Every thread goes over the whole row, under the name per_row.

#include <cfloat>

#include "rung.h"

__global__ void kernel(const float* x, float* y, int cols) {
  x += static_cast<size_t>(blockIdx.y) * cols;
  const int mine = blockIdx.x * 32 + threadIdx.x;
  if (mine >= cols) return;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  y[static_cast<size_t>(blockIdx.y) * cols + mine] = sum > 0.0f ? expf(x[mine] - max) / sum : sum;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (cols > 512 && rows * cols > 200000) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<dim3((cols + 31) / 32, rows), 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", softmax))
