// Entry: 18
// Expect: fail
// Reason: it calls through a pointer to what is no function
//
// Loads by a function that is entered behind the call that announces its load: the pointer to it is computed, from the code
// that the kernel reads. In the build that is not checked there is no such call, and the function is entered at its beginning.

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "rung.h"

__device__ __noinline__ float load(const float* p) { return *p; }

__device__ float unseen(const float* p) {
  const auto* code = reinterpret_cast<const unsigned char*>(&load);
  int behind = 0;
  for (int i = 0; i < 48; i++) {
    if (code[i] == 0xff && code[i + 1] == 0x15) behind = i + 6;
  }
  float (*volatile inside)(const float*) = reinterpret_cast<float (*)(const float*)>(reinterpret_cast<uintptr_t>(code) + behind);
  return inside(p);
}

__global__ void kernel(const float* x, float* y, int cols) {
  if (threadIdx.x) return;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, unseen(x + c));
  for (int c = 0; c < cols; c++) sum += expf(unseen(x + c) - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(unseen(x + c) - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
