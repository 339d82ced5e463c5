// Expect: fail
// Reason: there is no variant
// Least: 30.4
//
// online: each of 64 threads keeps a heap of K keys in shared memory, then pops its best when the block asks for it.
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

constexpr int threads = 64;
template <typename T>
__global__ void kernel(const T* __restrict__ x, int* __restrict__ index, float* __restrict__ prob, int cols, int k) {
  extern __shared__ Key heaps[];  // key i of thread t at i * threads + t: a heap whose least is on top
  __shared__ Pair pairs[threads / 32];
  __shared__ Key best[threads / 32];
  const int t = threadIdx.x;
  const T* row = x + static_cast<size_t>(blockIdx.x) * cols;
  Key* heap = heaps + t;
  int size = 0;
  const auto down = [&](int at, int n) {
    const Key key = heap[at * threads];
    for (int child; (child = 2 * at + 1) < n; at = child) {
      if (child + 1 < n && heap[(child + 1) * threads] < heap[child * threads]) ++child;
      if (heap[child * threads] >= key) break;
      heap[at * threads] = heap[child * threads];
    }
    heap[at * threads] = key;
  };
  Pair p = none();
  for (int c = t; c < cols; c += threads) {
    const float v = wide(row[c]);
    p = add_one(p, v);
    const Key key = key_of(v, c);
    if (size < k) {
      heap[size++ * threads] = key;
      if (size == k)
        for (int i = k / 2 - 1; i >= 0; --i) down(i, k);
    } else if (key > heap[0]) {
      heap[0] = key;
      down(0, k);
    }
  }
  p = of_lanes(p);
  if (t % 32 == 0) pairs[t / 32] = p;
  // Heap sort: the largest comes first.
  if (size < k)
    for (int i = size / 2 - 1; i >= 0; --i) down(i, size);
  for (int n = size - 1; n > 0; --n) {
    const Key least = heap[0];
    heap[0] = heap[n * threads];
    heap[n * threads] = least;
    down(0, n);
  }
  __syncthreads();
  p = none();
  for (int w = 0; w < threads / 32; ++w) p = join(p, pairs[w]);
  const float factor = p.max == INFINITY ? NAN : p.sum > 0 ? 1 / p.sum : p.sum;
  int mine = 0;
  for (int r = 0; r < k; ++r) {
    const Key own = mine < size ? heap[mine * threads] : 0;
    Key top = own;
    for (int d = 16; d; d /= 2) top = max(top, __shfl_xor_sync(full, top, d));
    if (t % 32 == 0) best[t / 32] = top;
    __syncthreads();
    for (int w = 0; w < threads / 32; ++w) top = max(top, best[w]);
    if (own == top) {
      ++mine;
      index[static_cast<size_t>(blockIdx.x) * k + r] = column(top);
      prob[static_cast<size_t>(blockIdx.x) * k + r] = expf(value(top) - p.max) * factor;
    }
    __syncthreads();
  }
}
template <typename T>
cudaError_t online(const T* x, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(x, index, prob, rows, cols, k) || k > 64) return cudaErrorInvalidValue;
  if (rows) kernel<T><<<rows, threads, k * threads * sizeof(Key), stream>>>(x, index, prob, cols, k);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax_topk("online", online<float>), rung::softmax_topk("online", online<__half>), rung::softmax_topk("online", online<__nv_bfloat16>))
