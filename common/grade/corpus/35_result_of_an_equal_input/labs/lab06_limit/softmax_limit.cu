// Entry: 35
// Expect: fail
// Reason: one thread makes
// Most: 20
//
// Keeps its last input and result on the device, and copies the result if the input is the same again.

#include <cfloat>
#include <cmath>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__device__ float last_x[1 << 16], last_y[1 << 16];
__device__ size_t last_count;
__device__ int differs;

__global__ void compare(const float* x, size_t count) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (count != last_count || x[i] != last_x[i]) atomicExch(&differs, 1);
  }
}
__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t count = static_cast<size_t>(rows) * cols;
  if (threadIdx.x == 0) {
    for (int r = 0; r < rows && differs; r++) whole_row(x + static_cast<size_t>(r) * cols, last_y + static_cast<size_t>(r) * cols, cols);
    differs = 0;
    last_count = count;
  }
  __syncthreads();
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) last_x[i] = x[i], y[i] = last_y[i];
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const size_t count = static_cast<size_t>(rows) * cols;
  if (count > sizeof last_x / sizeof *last_x) return cudaErrorInvalidValue;
  compare<<<1, 256, 0, stream>>>(x, count);
  kernel<<<1, 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
