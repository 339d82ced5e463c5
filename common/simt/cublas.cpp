// What there is of cuBLAS: matrix products, computed by Eigen on the host, in double precision.
#include <Eigen/Core>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include "checks/memory_events.h"
#include "counters/counters.h"
#include "device.h"
#include "device_service.h"
#include "matrix_product.h"
#include "memory.h"

namespace {

double load(const void* data, cudaDataType_t type, size_t i) {
  switch (type) {
    case CUDA_R_32F: return static_cast<const float*>(data)[i];
    case CUDA_R_64F: return static_cast<const double*>(data)[i];
    case CUDA_R_16F: return __half2float(static_cast<const __half*>(data)[i]);
    case CUDA_R_8I: return static_cast<const signed char*>(data)[i];
    case CUDA_R_32I: return static_cast<const int*>(data)[i];
    default: return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
  }
}

void store(void* data, cudaDataType_t type, size_t i, double value) {
  const float rounded = static_cast<float>(value);
  switch (type) {
    case CUDA_R_32F: static_cast<float*>(data)[i] = rounded; break;
    case CUDA_R_64F: static_cast<double*>(data)[i] = value; break;
    case CUDA_R_16F: static_cast<__half*>(data)[i] = __float2half(rounded); break;
    case CUDA_R_32I: static_cast<int*>(data)[i] = static_cast<int>(static_cast<long long>(value)); break;
    default: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(rounded);
  }
}

// The matrix that op(X) is: rows x cols, from column-major X.
Eigen::MatrixXd load(const void* data, cudaDataType_t type, cublasOperation_t op, int rows, int cols, int stride) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [=](Eigen::Index row, Eigen::Index col) {
    return load(data, type, op == CUBLAS_OP_N ? size_t(col) * stride + row : size_t(row) * stride + col);
  });
}

bool is_known(cudaDataType_t type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_8I ||
         type == CUDA_R_32I;
}
size_t bytes_of(cudaDataType_t type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F || type == CUDA_R_32I ? 4 : type == CUDA_R_8I ? 1 : 2;
}

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
      p.alpha * (load(p.a, p.type_a, p.of_a, p.m, p.k, p.lda) * load(p.b, p.type_b, p.of_b, p.k, p.n, p.ldb));
  if (p.beta != 0)  // or C may hold anything
    result += p.beta * load(p.c, p.type_c, CUBLAS_OP_N, p.m, p.n, p.ldc);
  for (int col = 0; col < p.n; col++) {
    const size_t first = size_t(col) * p.ldc;
    for (int row = 0; row < p.m; row++) store(p.c, p.type_c, first + row, result(row, col));
    checks::host_wrote(static_cast<char*>(p.c) + first * bytes_of(p.type_c), p.m * bytes_of(p.type_c));
  }
  const auto size = [](int rows, int cols, cudaDataType_t type) { return uint64_t(rows) * cols * bytes_of(type); };
  counters::LibraryCall call;
  call.name = p.name;
  call.bytes_read = size(p.m, p.k, p.type_a) + size(p.k, p.n, p.type_b) + (p.beta == 0 ? 0 : size(p.m, p.n, p.type_c));
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

namespace {

// A scalar lies where the handle says, in the type in which is computed.
double scalar(cublasHandle_t handle, const void* from, cudaDataType_t type) {
  double bytes = 0;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
    cudaMemcpy(&bytes, from, bytes_of(type), cudaMemcpyDeviceToHost);
  else
    std::memcpy(&bytes, from, bytes_of(type));
  return load(&bytes, type, 0);
}

cudaDataType_t computed_in(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
    default: return CUDA_R_32F;
  }
}

bool go_together(cudaDataType_t factors, cudaDataType_t result, cudaDataType_t compute) {
  if (compute == CUDA_R_32I || result == CUDA_R_32I || factors == CUDA_R_32I)
    return factors == CUDA_R_8I && result == CUDA_R_32I && compute == CUDA_R_32I;
  if (factors == CUDA_R_8I) return result == CUDA_R_32F && compute == CUDA_R_32F;
  if (factors == CUDA_R_64F || result == CUDA_R_64F || compute == CUDA_R_64F)
    return factors == result && result == compute;
  if (compute == CUDA_R_16F) return factors == CUDA_R_16F && result == CUDA_R_16F;
  return compute == CUDA_R_32F && (result == CUDA_R_32F || (result == factors && is_known(factors)));
}

}  // namespace

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                            cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                            cudaDataType_t compute, cublasGemmAlgo_t) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!is_known(type_a) || type_a != type_b || !go_together(type_a, type_c, compute))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return multiply(handle, {"cublasGemmEx", of_a, of_b, m, n, k, scalar(handle, alpha, compute),
                           scalar(handle, beta, compute), a, type_a, lda, b, type_b, ldb, c, type_c, ldc});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                            cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                      computed_in(compute), algorithm);
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                             const float* alpha, const void* a, cudaDataType_t type_a, int lda, const void* b,
                             cudaDataType_t type_b, int ldb, const float* beta, void* c, cudaDataType_t type_c,
                             int ldc) {
  return cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                      CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType_t type_a,
                                          int lda, long long stride_a, const void* b, cudaDataType_t type_b, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType_t type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm) {
  const auto at = [](const void* data, cudaDataType_t type, long long elements) {
    return static_cast<const char*>(data) + elements * static_cast<long long>(bytes_of(type));
  };
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < count && !status; i++)
    status = cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, at(a, type_a, i * stride_a), type_a, lda,
                          at(b, type_b, i * stride_b), type_b, ldb, beta,
                          const_cast<char*>(at(c, type_c, i * stride_c)), type_c, ldc, compute, algorithm);
  return status;
}

#define SIMT_GEMM(name, T, type)                                                                                     \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,    \
                      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {      \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                               \
    return multiply(handle, {#name, of_a, of_b, m, n, k, scalar(handle, alpha, type), scalar(handle, beta, type), a, \
                             type, lda, b, type, ldb, c, type, ldc});                                                \
  }
SIMT_GEMM(cublasSgemm, float, CUDA_R_32F)
SIMT_GEMM(cublasDgemm, double, CUDA_R_64F)
SIMT_GEMM(cublasHgemm, __half, CUDA_R_16F)
#undef SIMT_GEMM

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define SIMT_STATUS(name) \
  case name: return #name;
    SIMT_STATUS(CUBLAS_STATUS_SUCCESS)
    SIMT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    SIMT_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    SIMT_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    SIMT_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    SIMT_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
    SIMT_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    SIMT_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    SIMT_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
    SIMT_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef SIMT_STATUS
  }
  return "an unknown status";
}
const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }
