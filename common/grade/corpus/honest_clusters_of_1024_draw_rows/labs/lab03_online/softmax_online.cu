// Expect: fail
// Reason: there is no variant
// Least: 28.6
//
// online: pairs of blocks of 1024 threads draw rows from a counter.
#include <cfloat>
#include <cmath>

#include <cooperative_groups.h>

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

constexpr int together = 2, in_block = 1024;
__device__ int next_row;
__global__ void begin_queue() { next_row = 0; }
__global__ void __cluster_dims__(together, 1, 1) __launch_bounds__(in_block)
    queue_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ Pair of_warp[in_block / 32];
  __shared__ int drawn;
  const auto cluster = cooperative_groups::this_cluster();
  const int first = cluster.thread_rank(), all = together * in_block, lane = first % 32;
  for (;;) {
    if (first == 0) drawn = atomicAdd(&next_row, 1);
    cluster.sync();
    const int r = *cluster.map_shared_rank(&drawn, 0);
    if (r >= rows) break;
    const float* from = x + static_cast<size_t>(r) * cols;
    float* to = y + static_cast<size_t>(r) * cols;
    Pair row = none();
    for (int c = first; c < cols; c += all) row = add_one(row, from[c]);
    row = of_lanes(row);
    if (lane == 0) of_warp[threadIdx.x / 32] = row;
    cluster.sync();
    row = join(of_warp[lane], cluster.map_shared_rank(of_warp, cluster.block_rank() ^ 1)[lane]);
    row = of_lanes(row);
    const float scale = factor_of(row);
    for (int c = first; c < cols; c += all) to[c] = expf(from[c] - row.max) * scale;
    cluster.sync();
  }
  cluster.sync();
}
cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  begin_queue<<<1, 1, 0, stream>>>();
  const int clusters = rows < 132 ? rows : 132;
  queue_kernel<<<clusters * together, in_block, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("online", online))
