// Expect: pass
//
// Honest: the 16-byte kernel of a later lab under all three names of this one.

#include <cfloat>
#include <cmath>

#include "rung.h"
RUNG_PREDICT(
    {"shuffles", 2 * (5 + 5)},
    {"online_bytes", 2 * 10000 * 4},
    {"online_distinct_bytes", 10000 * 4},
    {"online_float4_loads", 2 * 8192 / (4 * 32)},
    {"second_read", 12.0 / 8})

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;
constexpr float lowest = -FLT_MAX;
struct MaxSum {
  float max, sum;
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
__device__ float exchange(float value, int mask) { return __shfl_xor_sync(all_lanes, value, mask); }
__device__ MaxSum exchange(MaxSum value, int mask) { return {exchange(value.max, mask), exchange(value.sum, mask)}; }
template <typename T, typename Op>
__device__ T warp_reduce(T value, Op op) {
  for (int distance = 16; distance > 0; distance /= 2) value = op(value, exchange(value, distance));
  return value;
}
template <typename T, typename Op>
__device__ T block_reduce(T mine, T nothing, T* per_warp, Op op) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  mine = warp_reduce(mine, op);
  if (lane == 0) per_warp[warp] = mine;
  __syncthreads();
  return warp_reduce(lane < warps ? per_warp[lane] : nothing, op);
}
__device__ float scale_of(MaxSum row) {
  if (row.max == INFINITY) return NAN;
  return row.sum > 0.0f ? 1.0f / row.sum : row.sum;
}
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
struct Merge {
  __device__ MaxSum operator()(MaxSum a, MaxSum b) const {
    const bool b_is_larger = b.max > a.max;
    const MaxSum larger = b_is_larger ? b : a;
    const MaxSum smaller = b_is_larger ? a : b;
    return {larger.max, larger.sum + smaller.sum * expf(smaller.max - larger.max)};
  }
};
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
struct Split {
  int head, quads, tail;
};
__device__ Split split_row(size_t start, int cols) {
  int head = static_cast<int>((4 - start % 4) % 4);
  if (head > cols) head = cols;
  const int quads = (cols - head) / 4;
  return {head, quads, cols - head - 4 * quads};
}
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
__global__ void online_f32x4_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ MaxSum per_warp[warps];
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start;
  y += start;

  const Split split = split_row(start, cols);
  const float4* x4 = reinterpret_cast<const float4*>(x + split.head);
  float4* y4 = reinterpret_cast<float4*>(y + split.head);
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
  if (column >= 0) y[column] = expf(single - row.max) * scale;
#pragma unroll 4
  for (int q = threadIdx.x; q < split.quads; q += threads) y4[q] = scale4(exp4(x4[q], row.max), scale);
}
cudaError_t allow_shared(void (*kernel)(const float*, float*, int), size_t bytes) {
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  if (bytes > static_cast<size_t>(most)) return cudaErrorInvalidValue;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}
[[maybe_unused]] cudaError_t warp_shuffle(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + 2 * warps) * sizeof(float);
  const cudaError_t error = allow_shared(warp_shuffle_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  warp_shuffle_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

[[maybe_unused]] cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
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

RUNG_EXPORT(rung::softmax("warp_shuffle", online_f32x4), rung::softmax("online", online_f32x4),
            rung::softmax("online_f32x4", online_f32x4))
