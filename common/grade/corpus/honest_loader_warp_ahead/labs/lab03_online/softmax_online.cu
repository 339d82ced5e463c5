// Expect: fail
// Reason: there is no variant
// Least: 28.6
//
// online_f32x4: one warp of nine loads tiles into shared memory ahead of the eight that compute.
#include <cfloat>
#include <cmath>

#include <cuda/barrier>

#include "rung.h"

constexpr unsigned full = 0xffffffffu;
struct Pair {
  float max, sum;
};
__device__ Pair none() { return {-FLT_MAX, 0.0f}; }
__device__ Pair join(Pair a, Pair b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}
__device__ float factor_of(Pair p) {
  if (p.max == INFINITY) return NAN;
  return p.sum > 0.0f ? 1.0f / p.sum : p.sum;
}
__device__ Pair add_one(Pair p, float x) {
  if (x > p.max) return {x, p.sum * expf(p.max - x) + 1.0f};
  return {p.max, p.sum + expf(x - p.max)};
}
__device__ Pair of_lanes(Pair p) {
  for (int d = 16; d; d /= 2) p = join(p, {__shfl_xor_sync(full, p.max, d), __shfl_xor_sync(full, p.sum, d)});
  return p;
}

constexpr int workers = 256, threads = workers + 32, tile = 1024;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ alignas(16) float buffer[2][tile];
  __shared__ Barrier ready[2], filled[2];
  __shared__ Pair warps[workers / 32];
  if (threadIdx.x < 2) init(&ready[threadIdx.x], threads), init(&filled[threadIdx.x], threads);
  __syncthreads();
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start, y += start;
  const int tiles = (cols + tile - 1) / tile;
  const bool wide = cols % 4 == 0;
  if (threadIdx.x >= workers) {
    const int lane = threadIdx.x - workers;
    for (int i = 0; i < tiles; ++i) {
      if (i > 1) ready[i % 2].arrive_and_wait();
      const int here = min(tile, cols - i * tile);
      if (wide) {
        for (int q = lane; q < here / 4; q += 32)
          reinterpret_cast<float4*>(buffer[i % 2])[q] = reinterpret_cast<const float4*>(x + i * tile)[q];
      } else {
        for (int c = lane; c < here; c += 32) buffer[i % 2][c] = x[i * tile + c];
      }
      (void)filled[i % 2].arrive();
    }
  } else {
    Pair p = none();
    for (int i = 0; i < tiles; ++i) {
      filled[i % 2].arrive_and_wait();
      const int here = min(tile, cols - i * tile);
      for (int c = threadIdx.x; c < here; c += workers) p = add_one(p, buffer[i % 2][c]);
      if (i + 2 < tiles) (void)ready[i % 2].arrive();
    }
    p = of_lanes(p);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = p;
  }
  __syncthreads();
  Pair p = none();
  for (int w = 0; w < workers / 32; ++w) p = join(p, warps[w]);
  const float factor = factor_of(p);
  if (wide) {
    for (int q = threadIdx.x; q < cols / 4; q += threads) {
      float4 v = reinterpret_cast<const float4*>(x)[q];
      v = {expf(v.x - p.max) * factor, expf(v.y - p.max) * factor, expf(v.z - p.max) * factor, expf(v.w - p.max) * factor};
      reinterpret_cast<float4*>(y)[q] = v;
    }
  } else {
    for (int c = threadIdx.x; c < cols; c += threads) y[c] = expf(x[c] - p.max) * factor;
  }
}
cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows) kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("online", online))
