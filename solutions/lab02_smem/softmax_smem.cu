// Lab 02: softmax with the row in shared memory.
//
// One block of 256 threads works on one row. It reads the row from global memory once, neighbouring threads at
// neighbouring addresses, keeps it in shared memory while it finds the maximum and the sum, and writes the result once.
//
//   serial       the block loads and stores together, but thread 0 alone finds the maximum and the sum
//   tree         all threads reduce: 256 partial results are folded in half eight times
//   tree_f32x4   tree with 16-byte loads and stores: a quarter of the memory instructions for the same bytes
//
// A row that does not fit in a block's shared memory is refused with cudaErrorInvalidValue.
#include <cfloat>
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // tree: 32-byte sectors that a warp requests when its threads load 32 neighbouring floats.
    {"neighbours_sectors", 32 * 4 / 32},
    // tree, V = 1000: sector bytes of all loads of one row from global memory.
    {"smem_row_bytes", 1000 * 4},
    // tree_f32x4, V = 2000: load instructions per row, those of all warps together.
    {"float4_loads", (2000 / 4 + 31) / 32},
    // tree: barriers that a thread reaches in one row.
    {"tree_barriers", 2 * (1 + 8 + 1)},
    // tree, 4096 x 4096 on an H200: microseconds. A factor of 2 counts as right.
    {"tree_us", 2 * 4096 * 4096 * 4 / 4255e3},
    // serial, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"serial_limit", rung::limit::latency})
// END 0

constexpr int threads = 256;  // per block; block_reduce needs a power of two

// Where a maximum starts: the lowest finite float, not -INFINITY. In a fully masked row (all -INFINITY), x - max is
// then -INFINITY and its exponential 0. Starting from -INFINITY, it would be NaN.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. fmaxf ignores a NaN in the row, so the maximum does not
// show it. But the sum does, and from here it spreads to the whole row. So does +INFINITY, because INFINITY - INFINITY
// is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// A sum that carries its rounding error along (Kahan). One thread that adds many numbers of the same size rounds in the
// same direction for thousands of additions: with one logit 5 above 50,256 equal ones, plain fp32 is wrong by 5.5e-4 of
// the sum. The 256 partial sums of a block are short enough without it.
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    const float corrected = term - lost;
    const float next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
  }
};

// x, y: (rows, cols). Block r turns row r of x into row r of y.
// Dynamic shared memory: cols floats, the row; then 1 float, in which thread 0 passes its result to the others.
__global__ void serial_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* found = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  // STEP 1: the block copies the row to shared memory, in each round 256 consecutive floats.
  for (int c = threadIdx.x; c < cols; c += threads) row[c] = x[c];
  __syncthreads();
  // END 1

  if (threadIdx.x == 0) {
    float max = lowest;
    for (int c = 0; c < cols; ++c) max = fmaxf(max, row[c]);
    *found = max;
  }
  __syncthreads();
  const float max = *found;

  for (int c = threadIdx.x; c < cols; c += threads) row[c] = expf(row[c] - max);
  __syncthreads();

  if (threadIdx.x == 0) {
    CompensatedSum sum = {0.0f, 0.0f};
    for (int c = 0; c < cols; ++c) sum.add(row[c]);
    *found = inverse(sum.value);
  }
  __syncthreads();
  const float scale = *found;

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}

// The two operations that a block reduces with.
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
// scratch: `threads` floats of shared memory, free to use again on return.
template <typename Op>
__device__ float block_reduce(float mine, float* scratch, Op op) {
  const int t = threadIdx.x;
  // STEP 2: each round the lower half of the threads folds the upper half's values into its own; then half go on.
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = op(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  // END 2
  const float all = scratch[0];
  __syncthreads();  // or the next call could overwrite scratch[0] before a slow warp has read it
  return all;
}

// x, y: (rows, cols). Block r turns row r of x into row r of y.
// Dynamic shared memory: cols floats, the row; then `threads` floats for block_reduce.
__global__ void tree_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* scratch = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  // STEP 3: three loops over this thread's columns. What a thread reads from row[] it wrote itself, so that no barrier is
  // needed between them.
  float max = lowest;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = block_reduce(max, scratch, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float e = expf(row[c] - max);
    row[c] = e;
    sum += e;
  }
  const float scale = inverse(block_reduce(sum, scratch, Add()));

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
  // END 3
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

// Target number of resident blocks per SM. For 9.0 the compiler would use 38 registers per thread of the next kernel,
// and two blocks fewer would fit.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
inline constexpr int resident = 8;
#else
inline constexpr int resident = 1;
#endif

// x, y: (rows, cols), both aligned to 16 bytes. Block r turns row r of x into row r of y.
// Dynamic shared memory: cols / 4 float4, the row's groups of four; then `threads` floats for block_reduce.
__global__ void __launch_bounds__(threads, resident)
    tree_f32x4_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float4 row4[];
  float* scratch = reinterpret_cast<float*>(row4 + cols / 4);
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start;
  y += start;

  // At most one single float per thread: it stays in a register. -INFINITY changes neither the maximum nor the sum.
  const Split split = split_row(start, cols);
  const int column = single_column(split, threadIdx.x);
  float single = column >= 0 ? x[column] : -INFINITY;

  float max = fmaxf(lowest, single);
  // STEP 4: every thread loads its groups of four with one instruction each and adds them to the maximum.
  const float4* x4 = reinterpret_cast<const float4*>(x + split.head);
#pragma unroll 4
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 value = x4[q];
    row4[q] = value;
    max = fmaxf(max, max4(value));
  }
  // END 4
  max = block_reduce(max, scratch, Max());

  single = expf(single - max);
  float sum = single;
#pragma unroll 1  // more would take more registers
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 e = exp4(row4[q], max);
    row4[q] = e;
    sum += sum4(e);
  }
  const float scale = inverse(block_reduce(sum, scratch, Add()));

  // STEP 5: every thread writes its single float, if it has one, and its groups of four.
  if (column >= 0) y[column] = single * scale;
  float4* y4 = reinterpret_cast<float4*>(y + split.head);
  for (int q = threadIdx.x; q < split.quads; q += threads) y4[q] = scale4(row4[q], scale);
  // END 5
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
cudaError_t serial(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + 1) * sizeof(float);
  const cudaError_t error = allow_shared(serial_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  serial_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  // STEP 6: a block per row; shared memory for the row and for the values that are folded.
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  const cudaError_t error = allow_shared(tree_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  // END 6
  return cudaGetLastError();
}

cudaError_t tree_f32x4(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  // STEP 7: the same, with the row in groups of four.
  const size_t bytes = static_cast<size_t>(cols / 4) * sizeof(float4) + threads * sizeof(float);
  const cudaError_t error = allow_shared(tree_f32x4_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_f32x4_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  // END 7
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", serial), rung::softmax("tree", tree), rung::softmax("tree_f32x4", tree_f32x4))
