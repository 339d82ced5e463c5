// The part of cuBLAS that is matrix multiplication, computed by the host with Eigen: for programs whose own kernels are
// the point. It is not a kernel: its accesses are neither counted nor checked. A count names the call with
// its operands' bytes (simt/counters/counters.h), and a stream that is being captured keeps it for the graph.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"
#include "cuda_runtime.h"
#include "simt/cublas_types.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
};
using cublasHandle_t = cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

// C = alpha op(A) op(B) + beta C, column-major: op(A) is m x k, op(B) k x n.
cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc);

// The same for floats, or for bfloat16 with C of either type; compute: CUBLAS_COMPUTE_32F; alpha, beta: float.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                            cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

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
