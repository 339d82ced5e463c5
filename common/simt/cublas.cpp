// What there is of cuBLAS: matrix products, computed by Eigen on the host, in double precision.
#include <Eigen/Core>

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "checks/memory_events.h"
#include "counters/counters.h"
#include "device.h"
#include "device_service.h"
#include "matrix_product.h"
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

// Bytes from the first element of a column-major matrix to behind its last.
size_t extent(int rows, int cols, int stride, cudaDataType_t type) {
  return rows && cols ? (size_t(cols - 1) * stride + rows) * bytes_of(type) : 0;
}

}  // namespace

namespace simt {

bool is_on_device(const MatrixProduct& p) {
  const auto is = [](const void* data, int rows, int cols, int stride, cudaDataType_t type) {
    const size_t bytes = extent(rows, cols, stride, type);
    return bytes == 0 || is_device_memory(data, bytes);
  };
  const bool a_as_is = p.of_a == CUBLAS_OP_N, b_as_is = p.of_b == CUBLAS_OP_N;
  return is(p.a, a_as_is ? p.m : p.k, a_as_is ? p.k : p.m, p.lda, p.type_a) &&
         is(p.b, b_as_is ? p.k : p.n, b_as_is ? p.n : p.k, p.ldb, p.type_b) && is(p.c, p.m, p.n, p.ldc, p.type_c);
}

bool is_well_formed(const MatrixProduct& p) {
  const int rows_of_a = p.of_a == CUBLAS_OP_N ? p.m : p.k, rows_of_b = p.of_b == CUBLAS_OP_N ? p.k : p.n;
  return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.lda >= max(1, rows_of_a) && p.ldb >= max(1, rows_of_b) &&
         p.ldc >= max(1, p.m) && is_known(p.type_a) && p.type_a == p.type_b && is_known(p.type_c);
}

void compute(const MatrixProduct& p) {
  Eigen::MatrixXd result =
      double(p.alpha) * (load(p.a, p.type_a, p.of_a, p.m, p.k, p.lda) * load(p.b, p.type_b, p.of_b, p.k, p.n, p.ldb));
  if (p.beta != 0.0f)  // or C may hold anything
    result += double(p.beta) * load(p.c, p.type_c, CUBLAS_OP_N, p.m, p.n, p.ldc);
  for (int col = 0; col < p.n; col++) {
    const size_t first = size_t(col) * p.ldc;
    for (int row = 0; row < p.m; row++) store(p.c, p.type_c, first + row, result(row, col));
    checks::host_wrote(static_cast<char*>(p.c) + first * bytes_of(p.type_c), p.m * bytes_of(p.type_c));
  }
  const auto size = [](int rows, int cols, cudaDataType_t type) { return uint64_t(rows) * cols * bytes_of(type); };
  counters::LibraryCall call;
  call.name = p.name;
  call.bytes_read =
      size(p.m, p.k, p.type_a) + size(p.k, p.n, p.type_b) + (p.beta == 0.0f ? 0 : size(p.m, p.n, p.type_c));
  call.bytes_written = size(p.m, p.n, p.type_c);
  if (counters::is_watched(p.a)) call.watched_bytes_read += size(p.m, p.k, p.type_a);
  if (counters::is_watched(p.b)) call.watched_bytes_read += size(p.k, p.n, p.type_b);
  counters::note_library_call(call);
}

}  // namespace simt

namespace {

cublasStatus_t multiply(cublasHandle_t handle, const simt::MatrixProduct& product) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!is_well_formed(product)) return CUBLAS_STATUS_INVALID_VALUE;
  const auto work = [product] { return simt::set_last_error(simt::device().multiply(product)); };
  return simt::do_or_capture(handle->stream, work) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
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
