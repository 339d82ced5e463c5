// Expect: fail
// Reason: there is no variant
// Least: 43
//
// f16x8: a row is split over blocks of 2048 halves; the last block of a row folds, all then write in a second kernel.
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

constexpr int threads = 128, chunk = 2048;
struct Row {
  Pair all;
  int ended;
};
__global__ void find(const __half* __restrict__ x, Row* rows, Pair* parts, int cols) {
  __shared__ Pair warps[threads / 32];
  __shared__ int before;
  const size_t start = static_cast<size_t>(blockIdx.y) * cols;
  const int first = blockIdx.x * chunk, last = min(cols, first + chunk), t = threadIdx.x;
  const __half* row = x + start;
  Pair p = none();
  int begin = first;
  while (begin < last && (start + begin) % 8) ++begin;
  const int packs = (last - begin) / 8;
  if (t < begin - first) p = add_one(p, __half2float(row[first + t]));
  for (int i = t; i < packs; i += threads) {
    uint4 words = reinterpret_cast<const uint4*>(row + begin)[i];
    __half v[8];
    __builtin_memcpy(v, &words, 16);
    float top = -FLT_MAX, sum = 0;
    for (int j = 0; j < 8; ++j) top = fmaxf(top, __half2float(v[j]));
    for (int j = 0; j < 8; ++j) sum += __expf(__half2float(v[j]) - top);
    p = join(p, {top, sum});
  }
  if (begin + 8 * packs + t < last) p = add_one(p, __half2float(row[begin + 8 * packs + t]));
  p = of_lanes(p);
  if (t % 32 == 0) warps[t / 32] = p;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < threads / 32; ++w) p = join(p, warps[w]);
    parts[blockIdx.y * gridDim.x + blockIdx.x] = p;
    __threadfence();
    before = atomicAdd(&rows[blockIdx.y].ended, 1);
  }
  __syncthreads();
  if (before + 1 < gridDim.x || t >= 32) return;
  __threadfence();
  p = none();
  for (int i = t; i < gridDim.x; i += 32) p = join(p, parts[blockIdx.y * gridDim.x + i]);
  p = of_lanes(p);
  if (t == 0) rows[blockIdx.y].all = p;
}
__global__ void write(const __half* __restrict__ x, __half* __restrict__ y, const Row* rows, int cols) {
  const Pair all = rows[blockIdx.y].all;
  const float factor = factor_of(all);
  const size_t start = static_cast<size_t>(blockIdx.y) * cols;
  const int first = blockIdx.x * chunk, last = min(cols, first + chunk), t = threadIdx.x;
  int begin = first;
  while (begin < last && (start + begin) % 8) ++begin;
  const int packs = (last - begin) / 8, after = begin + 8 * packs;
  if (t < begin - first) y[start + first + t] = __float2half(__expf(__half2float(x[start + first + t]) - all.max) * factor);
  for (int i = t; i < packs; i += threads) {
    uint4 words = reinterpret_cast<const uint4*>(x + start + begin)[i];
    __half v[8];
    __builtin_memcpy(v, &words, 16);
    for (int j = 0; j < 8; ++j) v[j] = __float2half(__expf(__half2float(v[j]) - all.max) * factor);
    __builtin_memcpy(&words, v, 16);
    reinterpret_cast<uint4*>(y + start + begin)[i] = words;
  }
  if (after + t < last) y[start + after + t] = __float2half(__expf(__half2float(x[start + after + t]) - all.max) * factor);
}
cudaError_t f16x8(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const int parts = (cols + chunk - 1) / chunk;
  for (int begin = 0; begin < rows; begin += 65535) {
    const int some = rows - begin < 65535 ? rows - begin : 65535;
    Row* each = nullptr;
    Pair* found = nullptr;
    if (const cudaError_t error = cudaMallocAsync(&each, sizeof(Row) * some, stream)) return error;
    if (const cudaError_t error = cudaMallocAsync(&found, sizeof(Pair) * some * parts, stream)) return error;
    cudaMemsetAsync(each, 0, sizeof(Row) * some, stream);
    const size_t at = static_cast<size_t>(begin) * cols;
    find<<<dim3(parts, some), threads, 0, stream>>>(x + at, each, found, cols);
    write<<<dim3(parts, some), threads, 0, stream>>>(x + at, y + at, each, cols);
    cudaFreeAsync(found, stream);
    cudaFreeAsync(each, stream);
  }
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("f16x8", f16x8))
