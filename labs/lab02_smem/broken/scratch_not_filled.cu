// Broken: threads without a column leave their place in scratch unwritten, and the tree folds it all the same.
// Verdict: initcheck: uninitialised shared memory
// Line: the one that holds `<- here`
// Variant: tree
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
__device__ float block_reduce(float mine, float* scratch, int cols, Op op) {
  const int t = threadIdx.x;
  if (t < cols) scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = op(scratch[t], scratch[t + half]);  // <- here
    __syncthreads();
  }
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

  // A thread has the same columns in all three loops: what it reads from row[] it wrote itself, so no barrier is
  // needed.
  float max = lowest;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = block_reduce(max, scratch, cols, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float e = expf(row[c] - max);
    row[c] = e;
    sum += e;
  }
  const float scale = inverse(block_reduce(sum, scratch, cols, Add()));

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
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

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  const cudaError_t error = allow_shared(tree_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", tree))
