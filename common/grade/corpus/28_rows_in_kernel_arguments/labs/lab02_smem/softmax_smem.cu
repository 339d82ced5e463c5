// Entry: 28
// Expect: fail
// Reason: the host reads
// Most: 5
//
// The host passes the matrix on, 4 KB at a time, as an argument of the kernel: reads of arguments are not counted.

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

struct Part {
  float x[900];
};
__global__ void kernel(Part part, float* y, int cols) {
  __shared__ float scratch[threads];
  row([&](int c) { return part.x[c]; }, y, cols, scratch);
}

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (cols > 900) return cudaErrorInvalidValue;
  for (int r = 0; r < rows; r++) {
    Part part;
    cudaMemcpyAsync(part.x, x + static_cast<size_t>(r) * cols, cols * sizeof(float), cudaMemcpyDeviceToHost, stream);
    kernel<<<1, threads, 0, stream>>>(part, y + static_cast<size_t>(r) * cols, cols);
  }
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", tree))
