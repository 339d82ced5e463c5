// Entry: 6
// Expect: fail
// Reason: elements wrong
//
// Brings its own memcmp and strcmp, by which everything is equal. The judge compares in its own process.

#include "rung.h"

extern "C" {
int memcmp(const void*, const void*, size_t) { return 0; }
int strcmp(const char*, const char*) { return 0; }
int bcmp(const void*, const void*, size_t) { return 0; }
}

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) y[i] = 0.5f;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
