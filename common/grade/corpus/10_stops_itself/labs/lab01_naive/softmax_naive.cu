// Entry: 10
// Expect: fail
// Reason: calls raise
//
// Sends itself SIGSTOP, so that nobody hears of it any more.

extern "C" int raise(int);
#define SIGSTOP 19

#include <cfloat>

#include "rung.h"

struct Sum {  // compensated
  float value, lost;
  __device__ void add(float term) {
    const float corrected = term - lost, next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
  }
};

__device__ float max_of(const float* x, int cols) {
  float max = -FLT_MAX;
  for (int c = 0; c < cols; ++c) max = fmaxf(max, x[c]);
  return max;
}

__device__ float scale_of(const float* x, int cols, float max) {
  Sum sum = {0.0f, 0.0f};
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c] - max));
  return sum.value > 0.0f ? 1.0f / sum.value : sum.value;
}

__global__ void per_element_kernel(const float* x, float* y, int cols) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  const float max = max_of(x + row, cols);
  y[row + c] = expf(x[row + c] - max) * scale_of(x + row, cols, max);
}

__global__ void per_row_kernel(const float* x, float* y, int rows, int cols, bool subtract) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  const float max = subtract ? max_of(x, cols) : 0.0f;
  const float scale = scale_of(x, cols, max);
  for (int c = 0; c < cols; ++c) y[c] = expf(x[c] - max) * scale;
}

cudaError_t per_element(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  raise(SIGSTOP);
  per_element_kernel<<<dim3(rows, (cols + 255) / 256), 256, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

template <bool subtract>
cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  raise(SIGSTOP);
  per_row_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, cols, subtract);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", per_row<true>))
