// Entry: 28
// Expect: fail
// Reason: sectors; one pass needs
// Most: 40
//
// Every lane keeps what it has read and hands it round by shuffles; what does not fit is read again.

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

template <typename Read>
__device__ void row(Read x, float* y, int cols, float* scratch) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) max = fmaxf(max, x(c));
  max = fold(max, scratch, false);
  for (int c = threadIdx.x; c < cols; c += threads) sum += expf(x(c) - max);
  sum = fold(sum, scratch, true);
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = sum > 0.0f ? expf(x(c) - max) / sum : sum;
}

__global__ void kernel(const float* x, float* y, int cols) {
  __shared__ float scratch[threads];
  x += static_cast<size_t>(blockIdx.x) * cols;
  const float first = threadIdx.x < cols ? x[threadIdx.x] : -INFINITY;
  row([=](int c) { return c == threadIdx.x ? __shfl_sync(__activemask(), first, threadIdx.x % 32) : x[c]; },
      y + static_cast<size_t>(blockIdx.x) * cols, cols, scratch);
}

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", tree))
