// Broken: the floats before the first group of four are written, those after the last are not.
// Verdict: never written
// Verdict: wrong only in column 32, the last one
// Variant: tree_f32x4
// Case: normal-1x33
#include <cfloat>
#include <cmath>

#include "rung.h"

constexpr int threads = 256;  // per block; block_reduce needs a power of two

// Where a maximum starts: the lowest finite float, not -INFINITY. In a fully masked row (all -INFINITY), x - max is
// then -INFINITY and its exponential 0. Starting from -INFINITY, it would be NaN.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. fmaxf ignores a NaN in the row, so the maximum does not
// show it. But the sum does, and from here it spreads to the whole row. So does +INFINITY, because INFINITY - INFINITY
// is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

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
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = op(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();  // or the next call could overwrite scratch[0] before a slow warp has read it
  return all;
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

// The column of the single float that thread t looks after, head and tail counted through; -1 if there is none for it.
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
// Dynamic shared memory: cols / 4 float4, the row's groups of four; then `threads` floats for block_reduce.
__global__ void tree_f32x4_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float4 row4[];
  float* scratch = reinterpret_cast<float*>(row4 + cols / 4);
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start;
  y += start;

  // At most one single float a thread: it stays in a register. -INFINITY changes neither the maximum nor the sum.
  const Split split = split_row(start, cols);
  const int column = single_column(split, threadIdx.x);
  float single = column >= 0 ? x[column] : -INFINITY;

  float max = fmaxf(lowest, single);
  const float4* x4 = reinterpret_cast<const float4*>(x + split.head);
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 value = x4[q];
    row4[q] = value;
    max = fmaxf(max, max4(value));
  }
  max = block_reduce(max, scratch, Max());

  single = expf(single - max);
  float sum = single;
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 e = exp4(row4[q], max);
    row4[q] = e;
    sum += sum4(e);
  }
  const float scale = inverse(block_reduce(sum, scratch, Add()));

  if (column >= 0 && column < split.head) y[column] = single * scale;
  float4* y4 = reinterpret_cast<float4*>(y + split.head);
  for (int q = threadIdx.x; q < split.quads; q += threads) y4[q] = scale4(row4[q], scale);
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

cudaError_t tree_f32x4(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = static_cast<size_t>(cols / 4) * sizeof(float4) + threads * sizeof(float);
  const cudaError_t error = allow_shared(tree_f32x4_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_f32x4_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree_f32x4", tree_f32x4))
