// Entry: 15
// Expect: fail
// Reason: host code touches device memory
//
// The host computes into a buffer of its own; a kernel looks at the input and copies the finished result.

#include <cmath>
#include <vector>

#include "rung.h"

void on_the_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    double max = -1e308, sum = 0;
    for (int c = 0; c < cols; ++c) max = x[c] > max ? x[c] : max;
    for (int c = 0; c < cols; ++c) sum += exp(x[c] - max);
    for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(sum > 0 ? exp(x[c] - max) / sum : sum);
  }
}

__global__ void kernel(const float* x, const float* finished, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) y[i] = x[i] == 12345 ? 0 : finished[i];
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  static std::vector<float> finished;
  finished.resize(static_cast<size_t>(rows) * cols);
  on_the_host(x, finished.data(), rows, cols);
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, finished.data(), y,
                                                                                               rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax))
