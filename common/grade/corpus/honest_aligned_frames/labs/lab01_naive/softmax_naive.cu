// Expect: fail
// Reason: there is no variant
// Least: 52
//
// Honest: local arrays that must lie at multiples of 64 bytes.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
struct alignas(64) Tile {
  float v[16];
  __device__ float top() const {
    float m = v[0];
    for (float e : v) m = fmaxf(m, e);
    return m;
  }
};
__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float max = -FLT_MAX, sum = 0;
  const float* in = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  for (int c = 0; c < cols; c += 16) {
    Tile tile;
    for (int i = 0; i < 16; i++) tile.v[i] = c + i < cols ? in[c + i] : -FLT_MAX;
    for (int i = 0; i < 16; i++)
      if (c + i < cols && isnan(in[c + i])) tile.v[i] = in[c + i];
    max = fmaxf(max, tile.top());
  }
  double all = 0;
  for (int c = 0; c < cols; c++) all += expf(in[c] - max);
  sum = all;
  for (int c = 0; c < cols; c++) out[c] = sum > 0 ? expf(in[c] - max) / sum : sum;
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("per_row", f32))
