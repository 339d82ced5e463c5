// Entry: 18
// Expect: fail
// Reason: it returns to another address than it was called from
//
// A function looks on its stack for the address that it returns to, and moves it behind the next call that announces an access.

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "rung.h"

__device__ __noinline__ float load(const float* p) {
  volatile uintptr_t near[2] = {};
  const auto here = reinterpret_cast<uintptr_t>(&load);
  for (int i = 2; i < 32; i++) {
    const uintptr_t back = near[i];
    if (back - here + 65536 > 131072) continue;
    const auto* code = reinterpret_cast<const unsigned char*>(back);
    for (int at = 0; at < 48; at++) {
      if (code[at] != 0xff || code[at + 1] != 0x15) continue;
      near[i] = back + at + 6;
      break;
    }
    break;
  }
  return *p + static_cast<float>(near[0]);
}

__global__ void kernel(const float* x, float* y, int cols) {
  if (threadIdx.x) return;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, load(x + c));
  for (int c = 0; c < cols; c++) sum += expf(load(x + c) - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(load(x + c) - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<rows, 32, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
