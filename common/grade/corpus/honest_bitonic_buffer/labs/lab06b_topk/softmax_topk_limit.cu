// Expect: fail
// Least: 85
//
// auto: a buffer in shared memory takes keys above the threshold; when it is full the block sorts it bitonically.
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

constexpr int threads = 256, room = 4096, most = 1024;
__device__ void sort(Key* keys, int n) {  // n: a power of two
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < n / 2; i += threads) {
        const int a = 2 * i - (i & (stride - 1)), b = a + stride;
        const bool falls = (a & size) == 0;
        const Key first = keys[a], second = keys[b];
        if ((first < second) == falls) keys[a] = second, keys[b] = first;
      }
    }
  __syncthreads();
}
template <typename T>
__global__ void __launch_bounds__(threads)
    kernel(const T* __restrict__ x, int* __restrict__ index, float* __restrict__ prob, int cols, int k) {
  __shared__ Key keys[room];
  __shared__ int count;
  __shared__ Pair warps[threads / 32];
  const int t = threadIdx.x;
  const T* row = x + static_cast<size_t>(blockIdx.x) * cols;
  if (t == 0) count = 0;
  __syncthreads();
  Pair p = none();
  Key threshold = 1;
  const auto shrink = [&] {
    int n = 64;
    while (n < count) n *= 2;
    for (int i = count + t; i < n; i += threads) keys[i] = 0;
    sort(keys, n);
    if (count >= k) threshold = keys[k - 1];
    __syncthreads();
    if (t == 0) count = min(count, k);
    __syncthreads();
  };
  for (int begin = 0; begin < cols; begin += 4 * threads) {
    float v[4];
    for (int i = 0; i < 4; ++i) {
      const int c = begin + i * threads + t;
      v[i] = c < cols ? wide(row[c]) : -INFINITY;
      if (c < cols) p = add_one(p, v[i]);
    }
    for (int i = 0; i < 4; ++i) {
      const int c = begin + i * threads + t;
      const Key key = key_of(v[i], c);
      if (c < cols && key >= threshold) keys[atomicAdd(&count, 1)] = key;
    }
    __syncthreads();
    if (count > room - 4 * threads || begin == 0) shrink();
    __syncthreads();
  }
  shrink();
  p = of_lanes(p);
  if (t % 32 == 0) warps[t / 32] = p;
  __syncthreads();
  p = none();
  for (int w = 0; w < threads / 32; ++w) p = join(p, warps[w]);
  const float factor = factor_of(p);
  for (int i = t; i < k; i += threads) {
    index[static_cast<size_t>(blockIdx.x) * k + i] = column(keys[i]);
    prob[static_cast<size_t>(blockIdx.x) * k + i] = expf(value(keys[i]) - p.max) * factor;
  }
}
template <typename T>
cudaError_t topk(const T* x, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(x, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows) kernel<T><<<rows, threads, 0, stream>>>(x, index, prob, cols, k);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax_topk("auto", topk<float>), rung::softmax_topk("auto", topk<__half>), rung::softmax_topk("auto", topk<__nv_bfloat16>))
