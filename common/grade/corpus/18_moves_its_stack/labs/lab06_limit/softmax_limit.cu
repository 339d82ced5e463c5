// Entry: 18
// Expect: fail
// Reason: its stack is not in its own local memory
//
// The size that alloca gets takes the stack to the matrix: local variables of the next function, which nobody has set, are then
// elements that no load is seen of.

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "rung.h"

__device__ __noinline__ float first_local(const float* p) {
  volatile float local[32];
  return p ? local[24] : 0.0f;
}

__device__ __noinline__ float below(const float* p) {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_alloca(16));
  volatile char* const there = static_cast<volatile char*>(__builtin_alloca(here - reinterpret_cast<uintptr_t>(p)));
  return first_local(p) + 0 * there[0];
}

__global__ void kernel(const float* x, float* y, int cols) {
  if (threadIdx.x) return;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, below(x + c));
  for (int c = 0; c < cols; c++) sum += expf(below(x + c) - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(below(x + c) - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
