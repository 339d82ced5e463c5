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

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab03 compares it with the
// count; README.md, "Predict first", has the questions in full.
RUNG_PREDICT(
    // warp_shuffle: shuffle instructions that one warp executes for one row.
    {"shuffles", rung::unknown},
    // online, V = 10,000: sector bytes of all loads of one row.
    {"online_bytes", rung::unknown},
    // online, V = 10,000: bytes of the different sectors among them.
    {"online_distinct_bytes", rung::unknown},
    // online_f32x4, V = 8192: load instructions per row, those of all warps together.
    {"online_float4_loads", rung::unknown},
    // online against warp_shuffle, 2048 x 50257 on an H200: how many times longer? A factor of 1.3 counts as right.
    {"second_read", rung::unknown},
    // online, 2048 x 50257 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"online_limit", rung::unknown})
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
  // TODO 1: fold the 32 values in five steps. In each, a lane exchanges its value with the lane at some distance and
  // combines the two (op). Which five distances leave every lane with the whole result?
  (void)op;
  // END 1
  return value;
}

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
// per_warp: `warps` elements of shared memory, which no other call may use. nothing: op(nothing, value) is value.
template <typename T, typename Op>
__device__ T block_reduce(T mine, T nothing, T* per_warp, Op op) {
  // TODO 2: let each warp reduce its own values and one of its lanes put the result into per_warp; after a barrier
  // every warp folds those 8 results. All 32 lanes take part in that, too: which value do the other 24 use?
  (void)nothing;
  (void)per_warp;
  (void)op;
  return mine;
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
    // TODO 3: the larger maximum; and both sums, rescaled to it. One exponential is enough. A maximum may be -INFINITY
    // (a masked element), which must not give NaN, or NaN (a NaN element), which must: where should it end up?
    (void)b;
    return a;
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
  // TODO 4: merge this thread's columns into row, an element at a time, so that x is read once for both results; merge the
  // pairs of all threads (block_reduce); then write the result. x is read a second time for that: why is it not kept?
  (void)x;
  (void)y;
  (void)row;
  (void)per_warp;
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

  // TODO 5: merge this thread's groups of four, x4[q], into row. Loads that wait for each other leave the memory idle,
  // so take four groups at a time; and compute 17 exponentials for the 16 values, not 32.
  (void)x4;
  // END 5
  row = block_reduce(row, nothing, per_warp, Merge());

  const float scale = scale_of(row);
  // TODO 6: write the single float, if this thread has one, and the groups of four (exp4 and scale4 help).
  (void)y4;
  (void)scale;
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
  // TODO 7: launch warp_shuffle_kernel. The comment on the kernel says what it keeps in shared memory: how many bytes?
  // What is returned for a row that does not fit, and for no rows?
  (void)stream;
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
