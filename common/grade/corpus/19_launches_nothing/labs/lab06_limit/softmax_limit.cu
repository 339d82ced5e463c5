// Entry: 19
// Expect: fail
// Reason: wrong
//
// Launches nothing in the plain build and computes on the host there.

#include <cfloat>
#include <vector>

#include "rung.h"

__attribute__((noinline)) int first(int a, int* b) { return b[a] + b[a + 1]; }
__attribute__((noinline)) int second(int a, int* b) { return b[a] * b[a + 1] + 1; }
// The instrumented build has longer functions.
bool is_counted() {
  const long distance = reinterpret_cast<const char*>(&second) - reinterpret_cast<const char*>(&first);
  return distance > 40 || distance < -40;
}

void on_the_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    float max = -FLT_MAX, sum = 0.0f;
    for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
    for (int c = 0; c < cols; c++) sum += y[c] = expf(x[c] - max);
    for (int c = 0; c < cols; c++) y[c] = sum > 0.0f ? y[c] / sum : 0.0f;
  }
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


cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (is_counted()) {
    slow<<<rows, 1, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
  }
  const size_t count = static_cast<size_t>(rows) * cols;
  std::vector<float> own(count);
  cudaMemcpy(own.data(), x, count * sizeof(float), cudaMemcpyDeviceToHost);
  on_the_host(own.data(), own.data(), rows, cols);
  cudaMemcpy(y, own.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("auto", softmax))
