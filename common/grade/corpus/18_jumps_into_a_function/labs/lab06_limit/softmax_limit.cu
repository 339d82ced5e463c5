// Entry: 18
// Expect: needs a person
// Reason: a computed jump
//
// A kernel jumps by a computed address, past what announces an access.

#include <cfloat>
#include <cmath>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__global__ void kernel(const float* x, float* y, int cols, long past) {
  static void* const places[] = {&&begin, &&end};
  if (threadIdx.x) return;
  goto *static_cast<void*>(static_cast<char*>(places[past != 0]) + (past > 1 ? past : 0));
begin:
  whole_row(x + static_cast<size_t>(blockIdx.x) * cols, y + static_cast<size_t>(blockIdx.x) * cols, cols);
end:
  return;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols, 0);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
