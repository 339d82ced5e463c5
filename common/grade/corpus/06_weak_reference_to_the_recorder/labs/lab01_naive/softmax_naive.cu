// Entry: 6
// Expect: needs a person
// Reason: calls _ZN4simt
//
// Asks by a weak reference whether the recorder is there.

#include <cfloat>
#include <cmath>

#include "rung.h"

namespace simt {
__attribute__((weak)) void set_observer(void*);
}

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
  if (simt::set_observer) simt::set_observer(nullptr);
  kernel<<<rows / 128 + 1, 128, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", per_row))
