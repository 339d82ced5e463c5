// Entry: 18
// Expect: needs a person
// Reason: compiles to what no kernel needs
//
// Instructions as bytes in an array that is put among the code.

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "rung.h"

__attribute__((section(".text.bytes"))) const unsigned char code[] = {0x0f, 0x05, 0xc3};

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  x += static_cast<size_t>(r) * cols;
  y += static_cast<size_t>(r) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}
cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (rows < 0) reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(code))();
  kernel<<<rows / 128 + 1, 128, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", per_row))
