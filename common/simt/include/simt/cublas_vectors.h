// cuBLAS's functions on vectors, on a matrix and a vector, and on a matrix alone: each a kernel of one thread, which is
// checked as any kernel and not counted (counters/session.cpp). Sums are added in double and rounded once.
#pragma once

#include <cmath>

#include "../cuda_runtime.h"

namespace simt::blas {

// A scalar as the handle's pointer mode says: read now, or by the kernel.
template <typename T>
struct Scalar {
  const T* pointer;
  T value;
  Scalar(cublasHandle_t handle, const T* from)
      : pointer(handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE ? from : nullptr), value(pointer ? T{} : *from) {}
  T get() const { return pointer ? *pointer : value; }
};

// An element of a vector; with a negative stride, element 0 is at the end.
template <typename T>
T& element(T* vector, int n, int stride, int i) {
  return vector[static_cast<long long>(stride < 0 ? i - (n - 1) : i) * stride];
}

template <typename Work>
cublasStatus_t run(cublasHandle_t handle, const char* name, const Work& work) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cudaError_t error =
      simt::launch({1, 1, 0, handle->stream}, simt::BoundCall<Work>{work, {}}.bind(name, nullptr));
  return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

// Stores the result where the pointer mode says; on the host, before the call returns.
template <typename Result, typename Work>
cublasStatus_t reduce(cublasHandle_t handle, const char* name, Result* result, const Work& work) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return run(handle, name, [=] { *result = work(); });
  Result* on_device = nullptr;
  if (cudaMalloc(&on_device, sizeof(Result))) return CUBLAS_STATUS_ALLOC_FAILED;
  const cublasStatus_t status = run(handle, name, [=] { *on_device = work(); });
  const cudaError_t error = cudaStreamSynchronize(handle->stream);
  if (!status && !error) cudaMemcpy(result, on_device, sizeof(Result), cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  return error ? CUBLAS_STATUS_EXECUTION_FAILED : status;
}

// Index from 1, the first of equal elements; 0 for an empty vector.
template <typename T>
int extreme_at(int n, const T* x, int stride, bool largest) {
  int best = 0;
  for (int i = 1; i < n; i++) {
    const T one = std::fabs(x[static_cast<long long>(i) * stride]);
    const T other = std::fabs(x[static_cast<long long>(best) * stride]);
    if (largest ? one > other : one < other) best = i;
  }
  return n > 0 && stride > 0 ? best + 1 : 0;
}

}  // namespace simt::blas

#define SIMT_BLAS(P, p, T)                                                                                            \
  inline cublasStatus_t cublas##P##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int step_x, T* y,   \
                                        int step_y) {                                                                 \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                \
    const simt::blas::Scalar<T> a(handle, alpha);                                                                     \
    return simt::blas::run(handle, "cublas" #P "axpy", [=] {                                                          \
      for (int i = 0; i < n; i++) {                                                                                   \
        T& to = simt::blas::element(y, n, step_y, i);                                                                 \
        to = std::fma(a.get(), simt::blas::element(x, n, step_x, i), to);                                             \
      }                                                                                                               \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##P##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int step) {               \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                \
    const simt::blas::Scalar<T> a(handle, alpha);                                                                     \
    return simt::blas::run(handle, "cublas" #P "scal", [=] {                                                          \
      for (int i = 0; i < n && step > 0; i++) x[static_cast<long long>(i) * step] *= a.get();                         \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##P##copy(cublasHandle_t handle, int n, const T* x, int step_x, T* y, int step_y) {     \
    return simt::blas::run(handle, "cublas" #P "copy", [=] {                                                          \
      for (int i = 0; i < n; i++) simt::blas::element(y, n, step_y, i) = simt::blas::element(x, n, step_x, i);        \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##P##swap(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y) {           \
    return simt::blas::run(handle, "cublas" #P "swap", [=] {                                                          \
      for (int i = 0; i < n; i++) {                                                                                   \
        T &one = simt::blas::element(x, n, step_x, i), &other = simt::blas::element(y, n, step_y, i);                 \
        const T kept = one;                                                                                           \
        one = other, other = kept;                                                                                    \
      }                                                                                                               \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##P##dot(cublasHandle_t handle, int n, const T* x, int step_x, const T* y, int step_y,  \
                                       T* result) {                                                                   \
    return simt::blas::reduce(handle, "cublas" #P "dot", result, [=] {                                                \
      double sum = 0;                                                                                                 \
      for (int i = 0; i < n; i++)                                                                                     \
        sum += double(simt::blas::element(x, n, step_x, i)) * simt::blas::element(y, n, step_y, i);                   \
      return static_cast<T>(sum);                                                                                     \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##P##nrm2(cublasHandle_t handle, int n, const T* x, int step, T* result) {              \
    return simt::blas::reduce(handle, "cublas" #P "nrm2", result, [=] {                                               \
      double sum = 0;                                                                                                 \
      for (int i = 0; i < n && step > 0; i++) {                                                                       \
        const double one = x[static_cast<long long>(i) * step];                                                       \
        sum += one * one;                                                                                             \
      }                                                                                                               \
      return static_cast<T>(std::sqrt(sum));                                                                          \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##P##asum(cublasHandle_t handle, int n, const T* x, int step, T* result) {              \
    return simt::blas::reduce(handle, "cublas" #P "asum", result, [=] {                                               \
      double sum = 0;                                                                                                 \
      for (int i = 0; i < n && step > 0; i++) sum += std::fabs(x[static_cast<long long>(i) * step]);                  \
      return static_cast<T>(sum);                                                                                     \
    });                                                                                                               \
  }                                                                                                                   \
  inline cublasStatus_t cublasI##p##amax(cublasHandle_t handle, int n, const T* x, int step, int* result) {           \
    return simt::blas::reduce(handle, "cublasI" #p "amax", result,                                                    \
                              [=] { return simt::blas::extreme_at(n, x, step, true); });                              \
  }                                                                                                                   \
  inline cublasStatus_t cublasI##p##amin(cublasHandle_t handle, int n, const T* x, int step, int* result) {           \
    return simt::blas::reduce(handle, "cublasI" #p "amin", result,                                                    \
                              [=] { return simt::blas::extreme_at(n, x, step, false); });                             \
  }                                                                                                                   \
  /* y = alpha op(A) x + beta y; A is m x n, column-major. */                                                         \
  inline cublasStatus_t cublas##P##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,    \
                                        const T* a, int lda, const T* x, int step_x, const T* beta, T* y,             \
                                        int step_y) {                                                                 \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                \
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !step_x || !step_y) return CUBLAS_STATUS_INVALID_VALUE;            \
    const simt::blas::Scalar<T> of_product(handle, alpha), of_y(handle, beta);                                        \
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;                                  \
    return simt::blas::run(handle, "cublas" #P "gemv", [=] {                                                          \
      for (int row = 0; row < rows; row++) {                                                                          \
        double sum = 0;                                                                                               \
        for (int column = 0; column < columns; column++) {                                                            \
          const long long at = op == CUBLAS_OP_N ? row + static_cast<long long>(column) * lda                         \
                                                 : column + static_cast<long long>(row) * lda;                        \
          sum += double(a[at]) * simt::blas::element(x, columns, step_x, column);                                     \
        }                                                                                                             \
        T& to = simt::blas::element(y, rows, step_y, row);                                                            \
        const T factor = of_y.get();                                                                                  \
        to = static_cast<T>(double(of_product.get()) * sum + (factor == 0 ? 0 : double(factor) * to));                \
      }                                                                                                               \
    });                                                                                                               \
  }                                                                                                                   \
  /* A += alpha x y^T; A is m x n, column-major. */                                                                   \
  inline cublasStatus_t cublas##P##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int step_x,   \
                                       const T* y, int step_y, T* a, int lda) {                                       \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                \
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !step_x || !step_y) return CUBLAS_STATUS_INVALID_VALUE;            \
    const simt::blas::Scalar<T> factor(handle, alpha);                                                                \
    return simt::blas::run(handle, "cublas" #P "ger", [=] {                                                           \
      for (int column = 0; column < n; column++) {                                                                    \
        const T scaled = factor.get() * simt::blas::element(y, n, step_y, column);                                    \
        for (int row = 0; row < m; row++) {                                                                           \
          T& to = a[row + static_cast<long long>(column) * lda];                                                      \
          to = std::fma(scaled, simt::blas::element(x, m, step_x, row), to);                                          \
        }                                                                                                             \
      }                                                                                                               \
    });                                                                                                               \
  }                                                                                                                   \
  /* C = alpha op(A) + beta op(B), m x n, column-major; transposes and adds. */                                       \
  inline cublasStatus_t cublas##P##geam(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, \
                                        int n, const T* alpha, const T* a, int lda, const T* beta, const T* b,        \
                                        int ldb, T* c, int ldc) {                                                     \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                \
    if (m < 0 || n < 0 || ldc < (m > 1 ? m : 1)) return CUBLAS_STATUS_INVALID_VALUE;                                  \
    const simt::blas::Scalar<T> x(handle, alpha), y(handle, beta);                                                    \
    return simt::blas::run(handle, "cublas" #P "geam", [=] {                                                          \
      const auto at = [](cublasOperation_t op, long long row, long long column, int ld) {                             \
        return op == CUBLAS_OP_N ? row + column * ld : column + row * ld;                                             \
      };                                                                                                              \
      for (int column = 0; column < n; column++) {                                                                    \
        for (int row = 0; row < m; row++) {                                                                           \
          T value = 0;                                                                                                \
          if (x.get() != 0) value += x.get() * a[at(of_a, row, column, lda)];                                         \
          if (y.get() != 0) value += y.get() * b[at(of_b, row, column, ldb)];                                         \
          c[row + static_cast<long long>(column) * ldc] = value;                                                      \
        }                                                                                                             \
      }                                                                                                               \
    });                                                                                                               \
  }
SIMT_BLAS(S, s, float)
SIMT_BLAS(D, d, double)
#undef SIMT_BLAS
