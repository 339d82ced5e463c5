// Entry: 15
// Expect: fail
// Reason: the host reads
// Most: 5
//
// A kernel tells the host one bit at a time, by whether the launch fails or a byte of 16 is set.

#include <cfloat>
#include <cmath>
#include <cstring>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__device__ int bits[4];

__global__ void bit_of(const float* x, int which) { bits[0] = __float_as_int(*x) >> which & 1; }
__global__ void scale(const float* x, float* y, int cols, float max, float sum) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

float told(const float* x, cudaStream_t stream) {
  int value = 0;
  for (int i = 0; i < 32; i++) {
    int bit = 0;
    bit_of<<<1, 1, 0, stream>>>(x, i);
    cudaMemcpyFromSymbol(&bit, bits, 1);
    value |= bit << i;
  }
  float f;
  memcpy(&f, &value, sizeof f);
  return f;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    float max = -FLT_MAX, sum = 0.0f;
    for (int c = 0; c < cols; c++) max = fmaxf(max, told(x + c, stream));
    for (int c = 0; c < cols; c++) sum += expf(told(x + c, stream) - max);
    scale<<<8, 256, 0, stream>>>(x, y, cols, max, sum);
  }
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
