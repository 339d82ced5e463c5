// Entry: 22
// Expect: fail
// Reason: elements wrong
//
// Sets the input to zero, for which a constant is the right answer. The judge has its own copy.

#include "rung.h"

__global__ void kernel(float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) {
    x[i] = 0.0f;
    y[i] = 1.0f / cols;
  }
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(const_cast<float*>(x), y,
                                                                                               rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
