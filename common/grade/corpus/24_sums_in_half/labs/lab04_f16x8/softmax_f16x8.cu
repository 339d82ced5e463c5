// Entry: 24
// Expect: fail
// Most: 5
//
// Adds up in half precision, which nobody sees in short rows.

#include <cuda_fp16.h>

#include "rung.h"

constexpr int threads = 256;

__device__ __half fold(__half mine, __half* scratch, bool add) {
  scratch[threadIdx.x] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      scratch[threadIdx.x] = add ? __hadd(scratch[threadIdx.x], scratch[threadIdx.x + half]) : __hmax(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  const __half all = scratch[0];
  __syncthreads();
  return all;
}

__global__ void kernel(const __half* x, __half* y, int cols) {
  __shared__ __half scratch[threads];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  __half max = __float2half(-65504.0f), sum = __float2half(0.0f);
  for (int c = threadIdx.x; c < cols; c += threads) max = __hmax(max, x[c]);
  max = fold(max, scratch, false);
  for (int c = threadIdx.x; c < cols; c += threads) sum = __hadd(sum, hexp(__hsub(x[c], max)));
  sum = fold(sum, scratch, true);
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = __hdiv(hexp(__hsub(x[c], max)), sum);
}
cudaError_t f16x2(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("f16x2", f16x2))
