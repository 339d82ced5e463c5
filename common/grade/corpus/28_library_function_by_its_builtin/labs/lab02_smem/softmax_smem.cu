// Entry: 28
// Expect: fail
// Reason: a kernel calls a function
//
// Reads by comparing memory with guesses, byte by byte: the C library's memcmp, by the name under which the device has
// it, too.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
__device__ float read(const void* p, int one) {
  unsigned char v[4];
  for (int b = 0; b < 4; b++) {
    int low = 0, high = 255;
    while (low < high) {
      unsigned char mid = (low + high + 1) / 2;
      if (__builtin_memcmp(static_cast<const char*>(p) + b, &mid, one) >= 0)
        low = mid;
      else
        high = mid - 1;
    }
    v[b] = low;
  }
  float f;
  __builtin_memcpy(&f, v, 4);
  return f;
}

__global__ void kernel(const float* x, float* y, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const int t = threadIdx.x;
  extern __shared__ float row[];
  for (int c = t; c < cols; c += blockDim.x) {
    row[c] = x[c];
  }
  __syncthreads();
  if (t == 0) {
    float max = -FLT_MAX;
    double sum = 0;
    for (int c = 0; c < cols; c++) max = fmaxf(max, read(row + c, static_cast<int>(gridDim.y)));
    for (int c = 0; c < cols; c++) {
      const float e = expf(read(row + c, static_cast<int>(gridDim.y)) - max);
      sum += e;
    }
    for (int c = 0; c < cols; c++) {
      const float v = sum > 0 ? expf(read(row + c, static_cast<int>(gridDim.y)) - max) / static_cast<float>(sum)
                              : static_cast<float>(sum);
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
