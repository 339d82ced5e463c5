// Broken: only lanes that have a column come to the shuffle, whose mask names all 32.
// Verdict: synccheck: __shfl_xor_sync waits for lane
// Line: those that hold `<- here`
// Variant: warp_shuffle
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

// Two of the operations that a block reduces with; Merge, below, is the third. Each is commutative to the last bit, so
// that all lanes of a butterfly end with the same result.
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// The value that the lane with number (own number XOR mask) passes.
__device__ float exchange(float value, int mask) {
  return __shfl_xor_sync(all_lanes, value, mask);  // <- here
}
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
__device__ T block_reduce(T mine, T nothing, T* per_warp, int cols, Op op) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (static_cast<int>(threadIdx.x) < cols) mine = warp_reduce(mine, op);
  if (lane == 0) per_warp[warp] = mine;
  __syncthreads();  // <- here
  return warp_reduce(lane < warps ? per_warp[lane] : nothing, op);
}

// 1 / sum for a row. The sum of a row that is masked altogether is 0, and so is then the result. A NaN in the row has
// made the sum NaN. +INFINITY is a maximum to which everything else is 0, so the sum may not show it.
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
  max = block_reduce(max, lowest, per_warp, cols, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float e = expf(row[c] - max);
    row[c] = e;
    sum += e;
  }
  sum = block_reduce(sum, 0.0f, per_warp + warps, cols, Add());

  const float scale = scale_of({max, sum});
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

// A matrix of no rows needs no launch; a grid of no blocks would be an error.
cudaError_t warp_shuffle(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + 2 * warps) * sizeof(float);
  const cudaError_t error = allow_shared(warp_shuffle_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  warp_shuffle_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("warp_shuffle", warp_shuffle))
