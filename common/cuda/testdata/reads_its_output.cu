// A wrong rung for the test of `make sanitizeNN`: it adds to its output, which nothing has written yet. initcheck names
// the marked line.
#include "rung.h"

__global__ void add_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] += x[i];  // <- here
}

cudaError_t adds(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  add_kernel<<<(rows * cols + 255) / 256, 256, 0, stream>>>(x, y, rows * cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("adds", adds))
