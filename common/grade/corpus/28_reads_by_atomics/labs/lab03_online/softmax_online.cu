// Entry: 28
// Expect: fail
// Reason: read 4 times
// Most: 28
//
// Reads the row four times, twice of that by atomics that change nothing, which are no loads.

#include <cfloat>

#include "rung.h"

struct Pair {
  float max, sum;
};

__device__ Pair merge(Pair a, Pair b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

// A warp a row.
__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  Pair mine = {-FLT_MAX, 0.0f};
  for (int c = lane; c < cols; c += 32) mine = merge(mine, {fmaxf(x[c], -FLT_MAX), x[c] == -INFINITY ? 0.0f : 1.0f});
  for (int distance = 16; distance > 0; distance /= 2)
    mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.max, distance), __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
  float check = 0.0f;
  for (int again = 0; again < 2; again++)
    for (int c = lane; c < cols; c += 32)
      check += static_cast<float>(atomicOr(reinterpret_cast<unsigned*>(const_cast<float*>(x)) + c, 0u) == 1u);
  if (check < 0.0f) mine.sum = check;
  const float scale = mine.sum > 0.0f ? 1.0f / mine.sum : mine.sum;
  for (int c = lane; c < cols; c += 32) y[c] = expf(x[c] - mine.max) * scale;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<(rows + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("online", softmax))
