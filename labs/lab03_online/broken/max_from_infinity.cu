// Broken: an empty part has the maximum -INFINITY: two such parts merge to NaN.
// Verdict: NaN where a number is expected
// Variant: online
#include <cmath>

#include "rung.h"

constexpr int threads = 256;  // per block
constexpr int warps = threads / 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Where a maximum starts.
constexpr float lowest = -INFINITY;

// The maximum of some numbers, at least `lowest`, and the sum of exp(x - max) over them. A NaN among them is in the
// sum, not in the maximum.
struct MaxSum {
  float max, sum;
};

// The value that the lane with number (own number XOR mask) passes.
__device__ float exchange(float value, int mask) { return __shfl_xor_sync(all_lanes, value, mask); }
__device__ MaxSum exchange(MaxSum value, int mask) { return {exchange(value.max, mask), exchange(value.sum, mask)}; }

// Folds the values of a warp's 32 lanes into one, which every lane gets. All 32 lanes must call it.
template <typename T, typename Op>
__device__ T warp_reduce(T value, Op op) {
  for (int distance = 16; distance > 0; distance /= 2) value = op(value, exchange(value, distance));
  return value;
}

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
// per_warp: `warps` elements of shared memory, which no other call may use. nothing: op(nothing, value) is value.
template <typename T, typename Op>
__device__ T block_reduce(T mine, T nothing, T* per_warp, Op op) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  mine = warp_reduce(mine, op);
  if (lane == 0) per_warp[warp] = mine;
  __syncthreads();
  return warp_reduce(lane < warps ? per_warp[lane] : nothing, op);
}

// 1 / sum for a row. The sum of a row that is masked altogether is 0, and so is then the result. A NaN in the row has
// made the sum NaN. +INFINITY is a maximum to which everything else is 0, so the sum may not show it.
__device__ float scale_of(MaxSum row) {
  if (row.max == INFINITY) return NAN;
  return row.sum > 0.0f ? 1.0f / row.sum : row.sum;
}

// Merges what is known of two parts of a row; one element x is a part too, the pair (x, 1).
struct Merge {
  __device__ MaxSum operator()(MaxSum a, MaxSum b) const {
    const bool b_is_larger = b.max > a.max;  // false for a NaN, which therefore ends in the sum
    const MaxSum larger = b_is_larger ? b : a;
    const MaxSum smaller = b_is_larger ? a : b;
    return {larger.max, larger.sum + smaller.sum * expf(smaller.max - larger.max)};
  }
};

// x, y: (rows, cols). Block r turns row r of x into row r of y.
__global__ void online_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ MaxSum per_warp[warps];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  const MaxSum nothing = {lowest, 0.0f};
  MaxSum row = nothing;
  for (int c = threadIdx.x; c < cols; c += threads) row = Merge()(row, {x[c], 1.0f});
  row = block_reduce(row, nothing, per_warp, Merge());

  const float scale = scale_of(row);
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = expf(x[c] - row.max) * scale;
}

cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  online_kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("online", online))
