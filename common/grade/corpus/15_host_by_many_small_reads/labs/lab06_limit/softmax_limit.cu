// Entry: 15
// Expect: fail
// Reason: the host reads
// Most: 5
//
// The host fetches the matrix by copies of 16 bytes, computes, and hands the sums over by values in the launch.

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "rung.h"

__device__ void whole_row(const float* x, float* y, int cols) {
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__global__ void scale(const float* x, float* y, int cols, float max, float sum) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  std::vector<float> row(cols + 4);
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    float max = -FLT_MAX, sum = 0.0f;
    for (int c = 0; c < cols; c += 4) cudaMemcpyAsync(&row[c], x + c, std::min(4, cols - c) * sizeof(float), cudaMemcpyDeviceToHost, stream);
    for (int c = 0; c < cols; c++) max = fmaxf(max, row[c]);
    for (int c = 0; c < cols; c++) sum += expf(row[c] - max);
    scale<<<8, 256, 0, stream>>>(x, y, cols, max, sum);
  }
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", f32))
