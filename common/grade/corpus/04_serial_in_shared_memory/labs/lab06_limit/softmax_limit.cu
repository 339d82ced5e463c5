// Entry: 4
// Expect: fail
// Reason: one thread makes
// Most: 35
//
// Loads and stores of 16 bytes by all threads, and one thread that computes in shared memory between them.

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
  extern __shared__ float row[];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const int fours = cols % 4 ? 0 : cols / 4;
  for (int c = threadIdx.x; c < fours; c += 256) reinterpret_cast<float4*>(row)[c] = reinterpret_cast<const float4*>(x)[c];
  for (int c = 4 * fours + threadIdx.x; c < cols; c += 256) row[c] = x[c];
  __syncthreads();
  if (threadIdx.x == 0) whole_row(row, row, cols);
  __syncthreads();
  for (int c = threadIdx.x; c < fours; c += 256) reinterpret_cast<float4*>(y)[c] = reinterpret_cast<const float4*>(row)[c];
  for (int c = 4 * fours + threadIdx.x; c < cols; c += 256) y[c] = row[c];
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const size_t bytes = static_cast<size_t>(cols) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  kernel<<<rows, 256, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
