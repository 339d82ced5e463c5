// What there is of cuBLAS: matrix products, computed by Eigen on the host, in double precision.
#include <Eigen/Core>

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "checks/memory_events.h"
#include "counters/counters.h"
#include "memory.h"

namespace {

float load(const void* data, cudaDataType_t type, size_t i) {
  return type == CUDA_R_32F ? static_cast<const float*>(data)[i]
                            : __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
}

void store(void* data, cudaDataType_t type, size_t i, double value) {
  const float rounded = static_cast<float>(value);
  if (type == CUDA_R_32F)
    static_cast<float*>(data)[i] = rounded;
  else
    static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(rounded);
}

// The matrix that op(X) is: rows x cols, from column-major X.
Eigen::MatrixXd load(const void* data, cudaDataType_t type, cublasOperation_t op, int rows, int cols, int stride) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [=](Eigen::Index row, Eigen::Index col) {
    return load(data, type, op == CUBLAS_OP_N ? size_t(col) * stride + row : size_t(row) * stride + col);
  });
}

bool is_known(cudaDataType_t type) { return type == CUDA_R_32F || type == CUDA_R_16BF; }
size_t bytes_of(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

// A product as it was asked for. Column-major: op(A) is m x k, op(B) k x n, C m x n.
struct Product {
  const char* name;
  cublasOperation_t of_a, of_b;
  int m, n, k;
  float alpha, beta;
  const void* a;
  cudaDataType_t type_a;
  int lda;
  const void* b;
  cudaDataType_t type_b;
  int ldb;
  void* c;
  cudaDataType_t type_c;
  int ldc;

  cudaError_t operator()() const {
    const simt::DeviceMemoryOpen open;
    Eigen::MatrixXd result = double(alpha) * (load(a, type_a, of_a, m, k, lda) * load(b, type_b, of_b, k, n, ldb));
    if (beta != 0.0f) result += double(beta) * load(c, type_c, CUBLAS_OP_N, m, n, ldc);  // or C may hold anything
    for (int col = 0; col < n; col++) {
      const size_t first = size_t(col) * ldc;
      for (int row = 0; row < m; row++) store(c, type_c, first + row, result(row, col));
      simt::checks::host_wrote(static_cast<char*>(c) + first * bytes_of(type_c), m * bytes_of(type_c));
    }
    const auto size = [](int rows, int cols, cudaDataType_t type) { return uint64_t(rows) * cols * bytes_of(type); };
    simt::counters::LibraryCall call;
    call.name = name;
    call.bytes_read = size(m, k, type_a) + size(k, n, type_b) + (beta == 0.0f ? 0 : size(m, n, type_c));
    call.bytes_written = size(m, n, type_c);
    if (simt::counters::is_watched(a)) call.watched_bytes_read += size(m, k, type_a);
    if (simt::counters::is_watched(b)) call.watched_bytes_read += size(k, n, type_b);
    simt::counters::note_library_call(call);
    return cudaSuccess;
  }
};

cublasStatus_t multiply(cublasHandle_t handle, const Product& product) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (product.m < 0 || product.n < 0 || product.k < 0 || product.lda < 1 || product.ldb < 1 ||
      product.ldc < product.m) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return simt::do_or_capture(handle->stream, product) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc) {
  return multiply(handle, {"cublasSgemm", of_a, of_b, m, n, k, *alpha, *beta, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb, c,
                           CUDA_R_32F, ldc});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                            cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  if (compute != CUBLAS_COMPUTE_32F || !is_known(type_a) || type_a != type_b || !is_known(type_c) ||
      (type_a == CUDA_R_32F && type_c != CUDA_R_32F)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return multiply(handle, {"cublasGemmEx", of_a, of_b, m, n, k, *static_cast<const float*>(alpha),
                           *static_cast<const float*>(beta), a, type_a, lda, b, type_b, ldb, c, type_c, ldc});
}
