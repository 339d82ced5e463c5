// Entry: 1
// Expect: fail
// Reason: never written
// Most: 0
//
// The work is left to the destructor of a thread_local object and to a function with the attribute destructor.

#include <cfloat>
#include <cmath>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__global__ void kernel(const float* x, float* y, int cols) {
  if (threadIdx.x) return;
  whole_row(x + static_cast<size_t>(blockIdx.x) * cols, y + static_cast<size_t>(blockIdx.x) * cols, cols);
}
struct Later {
  const float* x = nullptr;
  float* y = nullptr;
  int rows = 0, cols = 0;
  ~Later() {
    if (rows) kernel<<<rows, 32>>>(x, y, cols);
  }
};
thread_local Later later;

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  later.x = x, later.y = y, later.rows = rows, later.cols = cols;
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
