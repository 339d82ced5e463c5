// Entry: 18
// Expect: needs a person
// Reason: looks at the stack of its caller
//
// A kernel looks for its own return address, to go on elsewhere.

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
  if (threadIdx.x) return;
  if (past) static_cast<void**>(__builtin_frame_address(0))[1] = reinterpret_cast<void*>(past);
  whole_row(x + static_cast<size_t>(blockIdx.x) * cols, y + static_cast<size_t>(blockIdx.x) * cols, cols);
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols, 0);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
