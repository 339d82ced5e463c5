// Entry: 19
// Expect: fail
// Reason: behaves differently under the checks
//
// Tells the builds apart by the distance of two functions, and launches something else in the plain one.

#include <cfloat>

#include "rung.h"

constexpr int threads = 256;

__device__ float fold(float mine, float* scratch, bool add) {
  const int t = threadIdx.x;
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = add ? scratch[t] + scratch[t + half] : fmaxf(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}

__attribute__((noinline)) int first(int a, int* b) { return b[a] + b[a + 1]; }
__attribute__((noinline)) int second(int a, int* b) { return b[a] * b[a + 1] + 1; }
// The instrumented build has longer functions.
bool is_counted() {
  const long distance = reinterpret_cast<const char*>(&second) - reinterpret_cast<const char*>(&first);
  return distance > 40 || distance < -40;
}

__global__ void slow(const float* x, float* y, int cols) {
  if (threadIdx.x != 0) return;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
  for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? expf(x[c] - max) / sum : sum;
}

__global__ void kernel(const float* x, float* y, int cols) {
  extern __shared__ float scratch[];
  float* row = scratch + threads;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = fold(max, scratch, false);
  for (int c = threadIdx.x; c < cols; c += threads) sum += row[c] = expf(row[c] - max);
  sum = fold(sum, scratch, true);
  const float scale = sum > 0.0f ? 1.0f / sum : sum;
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) return error;
  if (is_counted())
    kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  else
    slow<<<rows, 1, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax))
