// Expect: pass
//
// Honest: an editor put a UTF-8 byte order mark first.

#include <cfloat>
#include <cmath>

#include "rung.h"
RUNG_PREDICT(
    {"apart_sectors", 32},
    {"same_address_sectors", 1},
    {"per_element_reads", 2 * 1000 + 1},
    {"per_row_bytes", 3 * 1000 * 32},
    {"per_element_slower", 8200.0 / 128})
constexpr float lowest = -FLT_MAX;
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    const float corrected = term - lost;
    const float next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
  }
};
__global__ void no_max_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;

  CompensatedSum sum = {0.0f, 0.0f};
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c]));
  for (int c = 0; c < cols; ++c) y[c] = expf(x[c]) / sum.value;
}
__device__ float row_max(const float* x, int cols) {
  float max = lowest;
  for (int c = 0; c < cols; ++c) max = fmaxf(max, x[c]);
  return max;
}
__device__ float row_sum(const float* x, int cols, float max) {
  CompensatedSum sum = {0.0f, 0.0f};
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c] - max));
  return sum.value;
}
__global__ void per_element_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const float max = row_max(x, cols);
  y[c] = expf(x[c] - max) * inverse(row_sum(x, cols, max));
}
__global__ void per_row_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;

  const float max = row_max(x, cols);
  const float scale = inverse(row_sum(x, cols, max));
  for (int c = 0; c < cols; ++c) y[c] = expf(x[c] - max) * scale;
}

constexpr int threads = 256;
constexpr int threads_per_row = 128;

int blocks_for(int items, int per_block) { return (items - 1) / per_block + 1; }
cudaError_t per_element(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const dim3 grid(rows, blocks_for(cols, threads));
  per_element_kernel<<<grid, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  per_row_kernel<<<blocks_for(rows, threads_per_row), threads_per_row, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

cudaError_t no_max(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  no_max_kernel<<<blocks_for(rows, threads_per_row), threads_per_row, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_element", per_element), rung::softmax("per_row", per_row),
            rung::softmax("no_max", no_max))
