// Entry: 28
// Expect: fail
// Reason: it calls through a pointer to what is no function
//
// The host passes memcpy's address to the kernel, which loads by it.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
#include <cstring>
using F = void* (*)(void*, const void*, size_t);

__global__ void kernel(const float* x, float* y, int cols, F f) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float v0 = 0;
  const int t = threadIdx.x;
  extern __shared__ float row[];
  for (int c = t; c < cols; c += blockDim.x) {
    row[c] = x[c];
  }
  __syncthreads();
  if (t == 0) {
    float max = -FLT_MAX;
    double sum = 0;
    for (int c = 0; c < cols; c++) max = fmaxf(max, (f(&v0, row + c, 4), v0));
    for (int c = 0; c < cols; c++) {
      const float e = expf((f(&v0, row + c, 4), v0) - max);
      sum += e;
    }
    for (int c = 0; c < cols; c++) {
      const float v =
          sum > 0 ? expf((f(&v0, row + c, 4), v0) - max) / static_cast<float>(sum) : static_cast<float>(sum);
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
  kernel<<<rows, 256, cols * 4, stream>>>(x, y, cols, &memcpy);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("tree", f32))
