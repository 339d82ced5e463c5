// The sum of every row: one block of 256 threads works on one row and folds its partial sums in half eight times.
#include "rung.h"

constexpr int threads = 256;

__global__ void row_sum_kernel(const float* __restrict__ x, float* __restrict__ sum, int cols) {
  __shared__ float scratch[threads];
  const int t = threadIdx.x;
  x += static_cast<size_t>(blockIdx.x) * cols;
  float mine = 0.0f;
  for (int c = t; c < cols; c += threads) mine += x[c];
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] += scratch[t + half];
    __syncthreads();
  }
  if (t == 0) sum[blockIdx.x] = scratch[0];
}

template <typename T>
cudaError_t tree(const T* x, float* sum, int rows, int cols, cudaStream_t stream) {
  if (!x || !sum || rows < 0 || cols <= 0) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  row_sum_kernel<<<rows, threads, 0, stream>>>(x, sum, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::row_sum("tree", tree<float>))
