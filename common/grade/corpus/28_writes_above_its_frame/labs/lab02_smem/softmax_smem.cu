// Entry: 28
// Expect: fail
// Reason: memcheck
//
// A constant index takes a local array's elements to the stack of the next thread: memory that threads share and nobody
// counts.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
__device__ __noinline__ void put(float v, int t) {
  volatile float own[4];
  switch (t & 3) {
    case 0: own[6000] = v; break;
    case 1: own[6001] = v; break;
    case 2: own[6002] = v; break;
    default: own[6003] = v;
  }
}

__global__ void kernel(const float* x, float* y, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const int t = threadIdx.x;
  extern __shared__ float row[];
  for (int c = t; c < cols; c += blockDim.x) {
    row[c] = x[c];
    put(x[c], t);
  }
  __syncthreads();
  if (t == 0) {
    float max = -FLT_MAX;
    double sum = 0;
    for (int c = 0; c < cols; c++) max = fmaxf(max, row[c]);
    for (int c = 0; c < cols; c++) {
      const float e = expf(row[c] - max);
      sum += e;
    }
    for (int c = 0; c < cols; c++) {
      const float v = sum > 0 ? expf(row[c] - max) / static_cast<float>(sum) : static_cast<float>(sum);
      row[c] = v;
    }
  }
  __syncthreads();
  for (int c = t; c < cols; c += blockDim.x) {
    y[c] = row[c];
  }
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (cols > 58000) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
  kernel<<<rows, 256, cols * 4, stream>>>(x, y, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("tree", f32))
