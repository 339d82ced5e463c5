// Lab 03: reductions in registers, and (max, sum) in one pass.
//
// One block of 256 threads works on one row. The threads of a warp reduce by exchanging registers; only one value per
// warp goes through shared memory.
//
//   warp_shuffle    the row in shared memory as in lab 02; two reductions, each with one barrier instead of ten
//   online          no copy of the row: one pass finds maximum and sum, a second one reads the row again and writes
//   online_f32x4    online with 16-byte accesses, four of them in flight per thread
//
// warp_shuffle refuses a row that does not fit in a block's shared memory; the other two take any width.
#include <cfloat>
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // warp_shuffle: shuffle instructions that one warp executes for one row.
    {"shuffles", 2 * (5 + 5)},
    // online, V = 10,000: sector bytes of all loads of one row.
    {"online_bytes", 2 * 10000 * 4},
    // online, V = 10,000: bytes of the different sectors among them.
    {"online_distinct_bytes", 10000 * 4},
    // online_f32x4, V = 8192: load instructions per row, those of all warps together.
    {"online_float4_loads", 2 * 8192 / (4 * 32)},
    // online against warp_shuffle, 2048 x 50257 on an H200: how many times longer? A factor of 1.3 counts as right.
    {"second_read", 12.0 / 8},
    // online, 2048 x 50257 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"online_limit", rung::limit::dram})
// END 0

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

// Two of the operations that a block reduces with; Merge, below, is the third. Each is commutative to the last bit, so
// that all lanes of a butterfly end with the same result.
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// The value that the lane with number (own number XOR mask) passes.
__device__ float exchange(float value, int mask) { return __shfl_xor_sync(all_lanes, value, mask); }
__device__ MaxSum exchange(MaxSum value, int mask) { return {exchange(value.max, mask), exchange(value.sum, mask)}; }

// Folds the values of a warp's 32 lanes into one, which every lane gets. All 32 lanes must call it.
template <typename T, typename Op>
__device__ T warp_reduce(T value, Op op) {
  // STEP 1: a butterfly: after the exchange over distance 16, 8, 4, 2, 1 every lane has folded all 32 values.
  for (int distance = 16; distance > 0; distance /= 2) value = op(value, exchange(value, distance));
  // END 1
  return value;
}

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
// per_warp: `warps` elements of shared memory, which no other call may use. nothing: op(nothing, value) is value.
template <typename T, typename Op>
__device__ T block_reduce(T mine, T nothing, T* per_warp, Op op) {
  // STEP 2: one result per warp goes to shared memory; after the only barrier every warp folds those 8 for itself.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  mine = warp_reduce(mine, op);
  if (lane == 0) per_warp[warp] = mine;
  __syncthreads();
  return warp_reduce(lane < warps ? per_warp[lane] : nothing, op);
  // END 2
}

// 1 / sum for a row. The sum of a fully masked row is 0, and so is the result. A NaN in the row has made the
// sum NaN. A maximum of +INFINITY makes all other terms 0, so the sum may not show it.
__device__ float scale_of(MaxSum row) {
  if (row.max == INFINITY) return NAN;
  return row.sum > 0.0f ? 1.0f / row.sum : row.sum;
}

// x, y: (rows, cols). Block r turns row r of x into row r of y.
// Dynamic shared memory: cols floats, the row; then 2 * warps floats for block_reduce.
__global__ void warp_shuffle_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* per_warp = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  float max = lowest;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = block_reduce(max, lowest, per_warp, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float e = expf(row[c] - max);
    row[c] = e;
    sum += e;
  }
  sum = block_reduce(sum, 0.0f, per_warp + warps, Add());

  const float scale = scale_of({max, sum});
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}

// Merges the pairs of two parts of a row; one element x is a part too, the pair (x, 1).
struct Merge {
  __device__ MaxSum operator()(MaxSum a, MaxSum b) const {
    // STEP 3: the part with the larger maximum stays as it is, the other's sum is scaled down to it: one exponential.
    const bool b_is_larger = b.max > a.max;  // false for a NaN, which therefore ends in the sum
    const MaxSum larger = b_is_larger ? b : a;
    const MaxSum smaller = b_is_larger ? a : b;
    return {larger.max, larger.sum + smaller.sum * expf(smaller.max - larger.max)};
    // END 3
  }
};

// x, y: (rows, cols). Block r turns row r of x into row r of y.
__global__ void online_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ MaxSum per_warp[warps];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  const MaxSum nothing = {lowest, 0.0f};
  MaxSum row = nothing;
  // STEP 4: every thread merges its own columns, an element at a time: x is read once for both results. Then the pairs of
  // all threads are merged, and x is read once more.
  for (int c = threadIdx.x; c < cols; c += threads) row = Merge()(row, {x[c], 1.0f});
  row = block_reduce(row, nothing, per_warp, Merge());

  const float scale = scale_of(row);
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = expf(x[c] - row.max) * scale;
  // END 4
}

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

// The column of the single float of thread t, head and tail counted through; -1 if it has none.
__device__ int single_column(Split split, int t) {
  if (t < split.head) return t;
  if (t < split.head + split.tail) return t + 4 * split.quads;
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

  // At most one single float per thread; -INFINITY, which adds nothing, if it has none.
  const int column = single_column(split, threadIdx.x);
  const float single = column >= 0 ? x[column] : -INFINITY;

  const MaxSum nothing = {lowest, 0.0f};
  MaxSum row = Merge()(nothing, {single, 1.0f});

  // STEP 5: per round four loads that do not wait for one another, then 16 exponentials against one maximum, one Merge.
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
  // END 5
  row = block_reduce(row, nothing, per_warp, Merge());

  const float scale = scale_of(row);
  // STEP 6: the single float from its register; the groups from memory again, four loads at a time.
  if (column >= 0) y[column] = expf(single - row.max) * scale;
#pragma unroll 4
  for (int q = threadIdx.x; q < split.quads; q += threads) y4[q] = scale4(exp4(x4[q], row.max), scale);
  // END 6
}

// Lets a kernel use this many bytes of dynamic shared memory. Up to 48 KB need no permission. Beyond that the kernel's
// limit must be raised, at most to what the device allows: 227 KB on compute capability 9.0.
cudaError_t allow_shared(void (*kernel)(const float*, float*, int), size_t bytes) {
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  if (bytes > static_cast<size_t>(most)) return cudaErrorInvalidValue;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

// A matrix of no rows needs no launch; a grid of no blocks would be an error.
cudaError_t warp_shuffle(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  // STEP 7: a block per row; shared memory for the row and for two reductions.
  const size_t bytes = (static_cast<size_t>(cols) + 2 * warps) * sizeof(float);
  const cudaError_t error = allow_shared(warp_shuffle_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  warp_shuffle_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  // END 7
  return cudaGetLastError();
}

cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  online_kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

cudaError_t online_f32x4(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  online_f32x4_kernel<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("warp_shuffle", warp_shuffle), rung::softmax("online", online),
            rung::softmax("online_f32x4", online_f32x4))
