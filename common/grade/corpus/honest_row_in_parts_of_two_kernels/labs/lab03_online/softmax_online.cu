// Expect: fail
// Reason: there is no variant
// Least: 28.6
//
// online: a row is split over blocks; a second kernel merges their pairs and writes.
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

constexpr int threads = 256;
__global__ void find(const float* __restrict__ x, Pair* parts, int cols, int chunk) {
  __shared__ Pair warps[threads / 32];
  const int first = blockIdx.x * chunk, last = min(cols, first + chunk);
  const float* row = x + static_cast<size_t>(blockIdx.y) * cols;
  Pair p = none();
  for (int c = first + threadIdx.x; c < last; c += threads) p = add_one(p, row[c]);
  p = of_lanes(p);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = p;
  __syncthreads();
  if (threadIdx.x < 32) {
    p = of_lanes(threadIdx.x < threads / 32 ? warps[threadIdx.x] : none());
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = p;
  }
}
__global__ void write(const float* __restrict__ x, float* __restrict__ y, const Pair* parts, int cols, int chunk) {
  __shared__ Pair all;
  if (threadIdx.x < 32) {
    Pair p = none();
    for (int i = threadIdx.x; i < gridDim.x; i += 32) p = join(p, parts[blockIdx.y * gridDim.x + i]);
    p = of_lanes(p);
    if (threadIdx.x == 0) all = p;
  }
  __syncthreads();
  const float factor = factor_of(all), max = all.max;
  const int first = blockIdx.x * chunk, last = min(cols, first + chunk);
  const size_t row = static_cast<size_t>(blockIdx.y) * cols;
  for (int c = first + threadIdx.x; c < last; c += threads) y[row + c] = expf(x[row + c] - max) * factor;
}
cudaError_t online(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const int chunk = 1024;
  const int parts = (cols + chunk - 1) / chunk;
  for (int begin = 0; begin < rows; begin += 65535) {
    const int some = rows - begin < 65535 ? rows - begin : 65535;
    Pair* found = nullptr;
    if (const cudaError_t error = cudaMallocAsync(&found, sizeof(Pair) * some * parts, stream)) return error;
    const size_t at = static_cast<size_t>(begin) * cols;
    find<<<dim3(parts, some), threads, 0, stream>>>(x + at, found, cols, chunk);
    write<<<dim3(parts, some), threads, 0, stream>>>(x + at, y + at, found, cols, chunk);
    cudaFreeAsync(found, stream);
  }
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("online", online))
