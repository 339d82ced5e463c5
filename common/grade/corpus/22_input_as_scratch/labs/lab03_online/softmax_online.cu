// Entry: 22
// Expect: fail
// Reason: changed its input
// Most: 0
//
// Uses its input as scratch memory, and writes the right values back but for the first.

#include <cfloat>
#include <cmath>

#include "rung.h"

constexpr int threads = 256;

__device__ float fold(float mine, float* scratch, bool add) {
  scratch[threadIdx.x] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      scratch[threadIdx.x] = add ? scratch[threadIdx.x] + scratch[threadIdx.x + half] : fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}

__global__ void kernel(float* x, float* y, int cols) {
  __shared__ float scratch[threads];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) max = fmaxf(max, x[c]);
  max = fold(max, scratch, false);
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = x[c], sum += x[c] = expf(x[c] - max);
  sum = fold(sum, scratch, true);
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float before = y[c];
    y[c] = sum > 0.0f ? x[c] / sum : sum;
    if (c) x[c] = before;
  }
}
cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, threads, 0, stream>>>(const_cast<float*>(x), y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("online", online))
