// Expect: fail
// Reason: there is no variant
// Least: 25.5
//
// two_kernels: softmax, then a radix select with histograms in shared memory, eight bits a pass; ties by a scan.
#include <cfloat>
#include <cmath>

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
using Key = unsigned long long;
__device__ Key key_of(float v, int c) {
  const unsigned bits = __float_as_uint(v + 0.0f);
  return static_cast<Key>(bits & 0x80000000u ? ~bits : bits | 0x80000000u) << 32 | ~static_cast<unsigned>(c);
}
__device__ int column(Key key) { return static_cast<int>(~static_cast<unsigned>(key)); }
__device__ float value(Key key) {
  const unsigned o = static_cast<unsigned>(key >> 32);
  return __uint_as_float(o & 0x80000000u ? o & 0x7fffffffu : ~o);
}
__device__ float wide(float v) { return v; }
__device__ float wide(__half v) { return __half2float(v); }
__device__ float wide(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ void put(float* to, float v) { *to = v; }
__device__ void put(__half* to, float v) { *to = __float2half(v); }
__device__ void put(__nv_bfloat16* to, float v) { *to = __float2bfloat16(v); }

constexpr int threads = 192;
__device__ Pair of_block(Pair p, Pair* warps) {
  p = of_lanes(p);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = p;
  __syncthreads();
  p = none();
  for (int w = 0; w < threads / 32; ++w) p = join(p, warps[w]);
  return p;
}
template <typename T>
__global__ void softmax(const T* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ Pair warps[threads / 32];
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  Pair p = none();
  for (int c = threadIdx.x; c < cols; c += threads) p = add_one(p, wide(x[start + c]));
  p = of_block(p, warps);
  const float factor = factor_of(p);
  for (int c = threadIdx.x; c < cols; c += threads) y[start + c] = expf(wide(x[start + c]) - p.max) * factor;
}
template <typename T>
__global__ void select(const T* __restrict__ x, const float* __restrict__ y, int* __restrict__ index, float* __restrict__ prob,
                       int cols, int k) {
  __shared__ int bins[256];
  __shared__ int bin, left, taken;
  __shared__ Key found[64];
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  Key prefix = 0;
  int wanted = k, shift = 56;
  for (; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < 256; i += threads) bins[i] = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += threads) {
      const Key key = key_of(wide(x[start + c]), c);
      if (shift == 56 || key >> (shift + 8) == prefix >> (shift + 8)) atomicAdd(&bins[key >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      int sum = 0;
      for (int i = 0; i < 8; ++i) sum += bins[255 - 8 * threadIdx.x - i];
      int upto = sum;
      for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(full, upto, d);
        if (threadIdx.x >= d) upto += other;
      }
      int above = upto - sum;
      if (above < wanted && upto >= wanted)
        for (int i = 0;; ++i) {
          const int b = 255 - 8 * threadIdx.x - i;
          if (above + bins[b] >= wanted) {
            bin = b, left = wanted - above;
            break;
          }
          above += bins[b];
        }
    }
    __syncthreads();
    prefix |= static_cast<Key>(bin) << shift;
    wanted = left;
    const bool exact = bins[bin] == left;
    __syncthreads();
    if (exact) break;
  }
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += threads) {
    const Key key = key_of(wide(x[start + c]), c);
    if (key >= prefix) found[atomicAdd(&taken, 1)] = key;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k; i += threads) {
    int rank = 0;
    for (int j = 0; j < k; ++j) rank += found[j] > found[i];
    index[static_cast<size_t>(blockIdx.x) * k + rank] = column(found[i]);
    prob[static_cast<size_t>(blockIdx.x) * k + rank] = y[start + column(found[i])];
  }
}
template <typename T>
cudaError_t two_kernels(const T* x, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(x, index, prob, rows, cols, k) || k > 64) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  float* all = nullptr;
  if (const cudaError_t error = cudaMallocAsync(&all, sizeof(float) * rows * cols, stream)) return error;
  softmax<T><<<rows, threads, 0, stream>>>(x, all, cols);
  select<T><<<rows, threads, 0, stream>>>(x, all, index, prob, cols, k);
  cudaFreeAsync(all, stream);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax_topk("two_kernels", two_kernels<float>), rung::softmax_topk("two_kernels", two_kernels<__half>), rung::softmax_topk("two_kernels", two_kernels<__nv_bfloat16>))
