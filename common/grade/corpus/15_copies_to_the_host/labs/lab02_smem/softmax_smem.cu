// Entry: 15
// Expect: fail
// Reason: the host reads
//
// Copies the input to the host, computes there, copies the result back.

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

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) y[i] = x[i];
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const size_t count = static_cast<size_t>(rows) * cols;
  std::vector<float> in(count), out(count);
  cudaMemcpy(in.data(), x, count * sizeof(float), cudaMemcpyDeviceToHost);
  on_the_host(in.data(), out.data(), rows, cols);
  cudaMemcpy(y, out.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return cudaSuccess;
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
