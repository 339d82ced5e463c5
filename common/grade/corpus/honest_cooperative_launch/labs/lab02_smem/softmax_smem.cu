// Expect: fail
// Reason: there is no variant
// Least: 20
//
// Honest: a cooperative launch.

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
  for (int first = 0; first < rows; first += 4) {
    const float* from = x + static_cast<size_t>(first) * cols;
    float* to = y + static_cast<size_t>(first) * cols;
    void* arguments[] = {&from, &to, &cols};
    const int blocks = rows - first < 4 ? rows - first : 4;
    if (rows > 64)
      kernel<<<blocks, threads, bytes, stream>>>(from, to, cols);
    else
      cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, bytes, stream);
  }
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax))
