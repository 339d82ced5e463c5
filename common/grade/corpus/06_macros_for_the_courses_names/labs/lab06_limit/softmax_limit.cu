// Entry: 6
// Expect: fail
// Reason: one thread makes
// Most: 35
//
// Macros rename valid, the export and the variant, so that another function is meant than is read.

#include <cfloat>
#include <cmath>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

#define softmax(name, function) softmax(#name[0] == 'a' ? "auto" : name, function)
#define __syncthreads() ((void)0)
#define atomicAdd(a, b) (*(a) += (b))

__global__ void kernel(const float* x, float* y, int cols) {
  __syncthreads();
  if (threadIdx.x) return;
  whole_row(x + static_cast<size_t>(blockIdx.x) * cols, y + static_cast<size_t>(blockIdx.x) * cols, cols);
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
