// Broken: the tail's columns are counted without the head: they land among the groups of four.
// Verdict: racecheck: race in global memory
// Line: those that hold `<- here`
// Variant: online_f32x4
#include <cfloat>
#include <cmath>

#include "rung.h"

constexpr int threads = 256;  // per block
constexpr int warps = threads / 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Where a maximum starts: the lowest finite float, not -INFINITY. In a fully masked row (all -INFINITY), x - max is
// then -INFINITY and its exponential 0. Starting from -INFINITY, it would be NaN.
constexpr float lowest = -FLT_MAX;

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

// A 16-byte access needs an address that is a multiple of 16, and a row may start at any multiple of 4. So a row of
// `cols` floats, the first of them at `start` in the matrix, is taken as `head` single floats up to the next boundary,
// `quads` groups of four, and `tail` single floats: at most 3 + 3 singles.
struct Split {
  int head, quads, tail;
};
__device__ Split split_row(size_t start, int cols) {
  int head = static_cast<int>((4 - start % 4) % 4);
  if (head > cols) head = cols;
  const int quads = (cols - head) / 4;
  return {head, quads, cols - head - 4 * quads};
}

// The column of the single float that thread t looks after, head and tail counted through; -1 if there is none for it.
__device__ int single_column(Split split, int t) {
  if (t < split.head) return t;
  if (t < split.head + split.tail) return t - split.head + 4 * split.quads;
  return -1;
}

__device__ float max4(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ float sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ float4 exp4(float4 v, float max) {
  return make_float4(expf(v.x - max), expf(v.y - max), expf(v.z - max), expf(v.w - max));
}
__device__ float4 scale4(float4 v, float scale) {
  return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}

// x, y: (rows, cols), both aligned to 16 bytes. Block r turns row r of x into row r of y.
__global__ void online_f32x4_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ MaxSum per_warp[warps];
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start;
  y += start;

  const Split split = split_row(start, cols);
  const float4* x4 = reinterpret_cast<const float4*>(x + split.head);
  float4* y4 = reinterpret_cast<float4*>(y + split.head);

  // At most one single float a thread; -INFINITY, which adds nothing, if it has none.
  const int column = single_column(split, threadIdx.x);
  const float single = column >= 0 ? x[column] : -INFINITY;

  const MaxSum nothing = {lowest, 0.0f};
  MaxSum row = Merge()(nothing, {single, 1.0f});

  constexpr int loads = 4;
  for (int first = threadIdx.x; first < split.quads; first += loads * threads) {
    float4 v[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int q = first + i * threads;
      v[i] = q < split.quads ? x4[q] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }

    MaxSum part = nothing;
#pragma unroll
    for (int i = 0; i < loads; ++i) part.max = fmaxf(part.max, max4(v[i]));
#pragma unroll
    for (int i = 0; i < loads; ++i) part.sum += sum4(exp4(v[i], part.max));
    row = Merge()(row, part);
  }
  row = block_reduce(row, nothing, per_warp, Merge());

  const float scale = scale_of(row);
  if (column >= 0) y[column] = expf(single - row.max) * scale;  // <- here
#pragma unroll 4
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 e = exp4(x4[q], row.max);
    y4[q] = scale4(e, scale);  // <- here
  }
}

cudaError_t online_f32x4(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  online_f32x4_kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("online_f32x4", online_f32x4))
