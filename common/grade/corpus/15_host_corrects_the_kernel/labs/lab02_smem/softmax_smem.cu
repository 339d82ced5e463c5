// Entry: 15
// Expect: fail
// Reason: host code touches device memory
//
// A kernel reads and writes every element once, as the move asks, but only copies; the host then puts in the right
// values.

#include <cmath>

#include "rung.h"

void on_the_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    double max = -1e308, sum = 0;
    for (int c = 0; c < cols; ++c) max = x[c] > max ? x[c] : max;
    for (int c = 0; c < cols; ++c) sum += exp(x[c] - max);
    for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(sum > 0 ? exp(x[c] - max) / sum : sum);
  }
}

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) y[i] = x[i];
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, y, rows, cols);
  on_the_host(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax))
