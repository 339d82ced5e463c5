// Entry: 14
// Expect: needs a person
// Reason: cuBLAS
// Most: 0
//
// Lets cuBLAS compute the sums of the rows.

#include <cfloat>

#include <cublas_v2.h>

#include "rung.h"

__global__ void exponentials(const float* x, float* y, float* ones, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = -FLT_MAX;
  for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
  for (int c = threadIdx.x; c < cols; c += 256) {
    y[c] = expf(x[c] - max);
    ones[c] = 1.0f;
  }
}
__global__ void divide(float* y, const float* sums, int cols) {
  for (int c = threadIdx.x; c < cols; c += 256) y[static_cast<size_t>(blockIdx.x) * cols + c] /= sums[blockIdx.x];
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  float *sums = nullptr, *ones = nullptr;
  cudaMalloc(&sums, sizeof(float) * rows);
  cudaMalloc(&ones, sizeof(float) * cols);
  exponentials<<<rows, 256, 0, stream>>>(x, y, ones, cols);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1.0f, zero = 0.0f;
  cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, 1, cols, &one, y, cols, ones, cols, &zero, sums, rows);
  cublasDestroy(handle);
  divide<<<rows, 256, 0, stream>>>(y, sums, cols);
  cudaFree(sums);
  cudaFree(ones);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("auto", softmax))
