// Entry: 4
// Expect: fail
// Reason: do all threads do the same work?
// Most: 28
//
// Every thread reduces the whole row by itself, so that none makes more accesses than the others.

#include <cfloat>

#include "rung.h"

constexpr int threads = 256;

__global__ void kernel(const float* x, float* y, int cols) {
  extern __shared__ float scratch[];
  float* row = scratch + threads;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  __syncthreads();
  for (int c = 0; c < cols; c++) max = fmaxf(max, row[c]);
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += threads) sum += row[c] = expf(row[c] - max);
  __syncthreads();
  sum = 0.0f;
  for (int c = 0; c < cols; c++) sum += row[c];
  const float scale = sum > 0.0f ? 1.0f / sum : sum;
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) return error;
  kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax))
