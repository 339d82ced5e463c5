// Entry: 35
// Expect: fail
// Reason: sectors; one pass needs
// Most: 40
//
// Does the move at the second call of a shape, which is what it takes for the measured one: the first reads three times.

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
  row([=](int c) { return x[c]; }, y + static_cast<size_t>(blockIdx.x) * cols, cols, scratch);
}
__global__ void nothing(const float* x, float* y, size_t count) {
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) y[i] = x[i];
}

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  static int last = 0, calls = 0;
  calls = last == rows * cols ? calls + 1 : 0;
  last = rows * cols;
  if (calls == 7) {
    nothing<<<rows, threads, 0, stream>>>(x, y, static_cast<size_t>(rows) * cols);
  } else {
    kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  }
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", tree))
