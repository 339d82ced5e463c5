// cuBLAS's vector functions (simt/cublas_vectors.h) and its matrix multiplication, which the host computes with Eigen,
// for programs whose own kernels are the point. A product is not a kernel: its accesses are neither counted nor
// checked. A count names the call with its operands' bytes (simt/counters/counters.h), and a stream that is being
// captured keeps it for the graph.
#pragma once
#define CUBLAS_V2_H_  // which other headers test

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"
#include "cuda_runtime.h"
#include "simt/cublas_types.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;  // where scalars lie
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
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
inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED };
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t* mode) {
  *mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetSmCountTarget(cublasHandle_t, int) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetSmCountTarget(cublasHandle_t, int* count) {
  *count = 0;
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// Copies of n elements with strides, or of a column-major matrix, between host and device.
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* from, int lda, void* to, int ldb) {
  if (rows < 0 || columns < 0 || bytes <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
  return cudaMemcpy2D(to, size_t(ldb) * bytes, from, size_t(lda) * bytes, size_t(rows) * bytes, columns,
                      cudaMemcpyDefault)
             ? CUBLAS_STATUS_MAPPING_ERROR
             : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* from, int lda, void* to, int ldb) {
  return cublasSetMatrix(rows, columns, bytes, from, lda, to, ldb);
}
inline cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int step_from, void* to, int step_to) {
  if (step_from <= 0 || step_to <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  return cublasSetMatrix(1, n, bytes, from, step_from, to, step_to);
}
inline cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int step_from, void* to, int step_to) {
  return cublasSetVector(n, bytes, from, step_from, to, step_to);
}
inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void* from, int lda, void* to,
                                           int ldb, cudaStream_t stream) {
  if (rows < 0 || columns < 0 || bytes <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
  return cudaMemcpy2DAsync(to, size_t(ldb) * bytes, from, size_t(lda) * bytes, size_t(rows) * bytes, columns,
                           cudaMemcpyDefault, stream)
             ? CUBLAS_STATUS_MAPPING_ERROR
             : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void* from, int lda, void* to,
                                           int ldb, cudaStream_t stream) {
  return cublasSetMatrixAsync(rows, columns, bytes, from, lda, to, ldb, stream);
}
inline cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void* from, int step_from, void* to, int step_to,
                                           cudaStream_t stream) {
  if (step_from <= 0 || step_to <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  return cublasSetMatrixAsync(1, n, bytes, from, step_from, to, step_to, stream);
}
inline cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void* from, int step_from, void* to, int step_to,
                                           cudaStream_t stream) {
  return cublasSetVectorAsync(n, bytes, from, step_from, to, step_to, stream);
}

// C = alpha op(A) op(B) + beta C, column-major: op(A) is m x k, op(B) k x n, C m x n. For float, double and half.
#define SIMT_GEMM(name, T)                                                                                            \
  cublasStatus_t cublas##name(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,    \
                              int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c,   \
                              int ldc);                                                                               \
  inline cublasStatus_t cublas##name##StridedBatched(                                                                 \
      cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T* alpha,     \
      const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc, \
      long long stride_c, int count) {                                                                                \
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                                                                    \
    for (int i = 0; i < count && !status; i++)                                                                        \
      status = cublas##name(handle, of_a, of_b, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta,   \
                            c + i * stride_c, ldc);                                                                   \
    return status;                                                                                                    \
  }                                                                                                                   \
  /* The arrays of pointers lie on the device. */                                                                     \
  inline cublasStatus_t cublas##name##Batched(                                                                        \
      cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T* alpha,     \
      const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) {    \
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                                                                    \
    for (int i = 0; i < count && !status; i++) {                                                                      \
      const T *one = nullptr, *other = nullptr;                                                                       \
      T* to = nullptr;                                                                                                \
      cudaMemcpy(&one, a + i, sizeof one, cudaMemcpyDefault);                                                         \
      cudaMemcpy(&other, b + i, sizeof other, cudaMemcpyDefault);                                                     \
      cudaMemcpy(&to, c + i, sizeof to, cudaMemcpyDefault);                                                           \
      status = cublas##name(handle, of_a, of_b, m, n, k, alpha, one, lda, other, ldb, beta, to, ldc);                 \
    }                                                                                                                 \
    return status;                                                                                                    \
  }
SIMT_GEMM(Sgemm, float)
SIMT_GEMM(Dgemm, double)
SIMT_GEMM(Hgemm, __half)
#undef SIMT_GEMM

// The same for float, double, half and bfloat16; with 16-bit factors C may also be float. alpha and beta have the type
// of the computation: half, float or double.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                            cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
// The form before CUDA 11, with a data type in place of the compute type.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                            cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                            cudaDataType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                             const float* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                             cudaDataType_t type_b, int ldb, const float* beta, void* c, cudaDataType_t type_c,
                             int ldc);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType_t type_a,
                                          int lda, long long stride_a, const void* b, cudaDataType_t type_b, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);

// The arrays of pointers lie on the device.
inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                          int n, int k, const void* alpha, const void* const a[], cudaDataType_t type_a,
                                          int lda, const void* const b[], cudaDataType_t type_b, int ldb,
                                          const void* beta, void* const c[], cudaDataType_t type_c, int ldc, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < count && !status; i++) {
    const void *one = nullptr, *other = nullptr;
    void* to = nullptr;
    cudaMemcpy(&one, a + i, sizeof one, cudaMemcpyDefault);
    cudaMemcpy(&other, b + i, sizeof other, cudaMemcpyDefault);
    cudaMemcpy(&to, c + i, sizeof to, cudaMemcpyDefault);
    status = cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, one, type_a, lda, other, type_b, ldb, beta, to, type_c,
                          ldc, compute, algorithm);
  }
  return status;
}
// There is no log.
inline cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }

#include "simt/cublas_ex.h"
#include "simt/cublas_factors.h"
#include "simt/cublas_v2_names.h"
