// The kernel that bench_simt.cpp measures: softmax of 64 x 4096 fp32, one block per row. A thread of a 256-thread block
// makes three passes over global memory, 16 warp shuffles and 3 barriers. Built plain and instrumented.
#include <cuda_runtime.h>

#include <cfloat>

namespace {

constexpr int rows = 64, cols = 4096;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines the values of `width` neighbouring threads; all of them get the result. log2(width) shuffles.
template <int width, typename Combine>
__device__ float reduce(float value, Combine combine) {
  for (int distance = width / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// Combines the values of a block; every thread gets the result. One barrier; the caller puts another before it uses
// `partial` again.
template <int threads, typename Combine>
__device__ float block_reduce(float value, float* partial, Combine combine) {
  constexpr int warps = threads / 32;
  value = reduce<32>(value, combine);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  return reduce<warps>(partial[threadIdx.x % warps], combine);
}

// x, y: (rows, cols). Block r turns row r of x into row r of y.
template <int threads>
__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float partial[threads / 32];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  float max = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += threads) max = fmaxf(max, x[c]);
  max = block_reduce<threads>(max, partial, Max());
  __syncthreads();

  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += threads) sum += expf(x[c] - max);
  const float scale = 1 / block_reduce<threads>(sum, partial, Add());

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = expf(x[c] - max) * scale;
}

}  // namespace

// threads: a block's, 256 or 1024. x, y: device memory.
extern "C" cudaError_t simt_softmax(int threads, const float* x, float* y) {
  if (threads == 256) {
    softmax_kernel<256><<<rows, 256>>>(x, y);
  } else if (threads == 1024) {
    softmax_kernel<1024><<<rows, 1024>>>(x, y);
  } else {
    return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
