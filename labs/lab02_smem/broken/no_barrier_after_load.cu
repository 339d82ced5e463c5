// Broken: thread 0 reads the row before the others have copied it.
// Verdict: racecheck: race in shared memory
// Line: those that hold `<- here`
// Variant: serial
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

// A sum that carries its rounding error along (Kahan). One thread that adds many numbers of one size rounds in the same
// direction for thousands of additions: with one logit 5 above 50,256 equal ones, plain fp32 is wrong by 5.5e-4 of the
// sum. The 256 partial sums of a block are short enough to do without.
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    const float corrected = term - lost;
    const float next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
  }
};

// x, y: (rows, cols). Block r turns row r of x into row r of y.
// Dynamic shared memory: cols floats, the row; then 1 float, by which thread 0 tells the others what it found.
__global__ void serial_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* found = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  for (int c = threadIdx.x; c < cols; c += threads) row[c] = x[c];  // <- here

  if (threadIdx.x == 0) {
    float max = lowest;
    for (int c = 0; c < cols; ++c) max = fmaxf(max, row[c]);  // <- here
    *found = max;
  }
  __syncthreads();
  const float max = *found;

  for (int c = threadIdx.x; c < cols; c += threads) row[c] = expf(row[c] - max);
  __syncthreads();

  if (threadIdx.x == 0) {
    CompensatedSum sum = {0.0f, 0.0f};
    for (int c = 0; c < cols; ++c) sum.add(row[c]);
    *found = inverse(sum.value);
  }
  __syncthreads();
  const float scale = *found;

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
cudaError_t serial(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + 1) * sizeof(float);
  const cudaError_t error = allow_shared(serial_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  serial_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", serial))
