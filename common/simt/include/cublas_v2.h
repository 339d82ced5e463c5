// The part of cuBLAS that is matrix multiplication of floats, computed by the host in the simplest way: for programs
// whose own kernels are the point. It is not a kernel: nothing of it is counted or checked.
#pragma once

#include "cuda_runtime.h"
#include "simt/cublas_types.h"

struct cublasContext;
using cublasHandle_t = cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(1);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

// C = alpha op(A) op(B) + beta C, column-major: op(A) is m x k, op(B) k x n.
cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc);

inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                                                int m, int n, int k, const float* alpha, const float* a, int lda,
                                                long long stride_a, const float* b, int ldb, long long stride_b,
                                                const float* beta, float* c, int ldc, long long stride_c, int count) {
  for (int i = 0; i < count; i++) {
    const cublasStatus_t status = cublasSgemm(handle, of_a, of_b, m, n, k, alpha, a + i * stride_a, lda,
                                              b + i * stride_b, ldb, beta, c + i * stride_c, ldc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
