// cuBLAS on matrices, where Eigen does not compute (cublas.cpp): triangular systems and complex products, each a kernel
// of one thread as cublas_vectors.h has them. Column-major, as all of cuBLAS.
#pragma once

#include "../cuComplex.h"
#include "cublas_vectors.h"

enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };

namespace simt::blas {

// op(A) X = alpha B from the left, X op(A) = alpha B from the right; A is triangular, and X takes B's place (m x n).
template <typename T>
struct Triangular {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t op;
  cublasDiagType_t diagonal;
  int m, n, lda, ldb;

  bool is_valid() const {
    const int size = side == CUBLAS_SIDE_LEFT ? m : n;
    return m >= 0 && n >= 0 && lda >= (size > 1 ? size : 1) && ldb >= (m > 1 ? m : 1);
  }
  void solve(T alpha, const T* a, T* b) const {
    const bool left = side == CUBLAS_SIDE_LEFT;
    // From the right it is op(A)^T X^T = alpha B^T.
    const bool transposed = (op != CUBLAS_OP_N) == left, lower = (fill == CUBLAS_FILL_MODE_LOWER) != transposed;
    const int size = left ? m : n, systems = left ? n : m;
    for (int system = 0; system < systems; system++) {
      const auto x = [=](int i) -> T& {
        return left ? b[i + static_cast<long long>(system) * ldb] : b[system + static_cast<long long>(i) * ldb];
      };
      for (int step = 0; step < size; step++) {
        const int i = lower ? step : size - 1 - step;
        double sum = double(alpha) * x(i);
        for (int before = 0; before < step; before++) {
          const int k = lower ? before : size - 1 - before;
          sum -=
              double(a[transposed ? k + static_cast<long long>(i) * lda : i + static_cast<long long>(k) * lda]) * x(k);
        }
        x(i) = static_cast<T>(diagonal == CUBLAS_DIAG_UNIT ? sum : sum / a[i + static_cast<long long>(i) * lda]);
      }
    }
  }
};

}  // namespace simt::blas

#define SIMT_BLAS_TRIANGULAR(P, T)                                                                                     \
  inline cublasStatus_t cublas##P##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,           \
                                        cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T* alpha, \
                                        const T* a, int lda, T* b, int ldb) {                                          \
    const simt::blas::Triangular<T> systems{side, fill, op, diagonal, m, n, lda, ldb};                                 \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (!systems.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;                                                       \
    const simt::blas::Scalar<T> factor(handle, alpha);                                                                 \
    return simt::blas::run(handle, "cublas" #P "trsm", [=] { systems.solve(factor.get(), a, b); });                    \
  }                                                                                                                    \
  /* The arrays of pointers lie on the device. */                                                                      \
  inline cublasStatus_t cublas##P##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,    \
                                               cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,          \
                                               const T* alpha, const T* const a[], int lda, T* const b[], int ldb,     \
                                               int count) {                                                            \
    const simt::blas::Triangular<T> systems{side, fill, op, diagonal, m, n, lda, ldb};                                 \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (!systems.is_valid() || count < 0) return CUBLAS_STATUS_INVALID_VALUE;                                          \
    const simt::blas::Scalar<T> factor(handle, alpha);                                                                 \
    return simt::blas::run(handle, "cublas" #P "trsmBatched", [=] {                                                    \
      for (int i = 0; i < count; i++) systems.solve(factor.get(), a[i], b[i]);                                         \
    });                                                                                                                \
  }
SIMT_BLAS_TRIANGULAR(S, float)
SIMT_BLAS_TRIANGULAR(D, double)
#undef SIMT_BLAS_TRIANGULAR

// C = alpha op(A) op(B) + beta C, of complex numbers; with CUBLAS_OP_C the factor is conjugated, too.
#define SIMT_BLAS_COMPLEX(P, T, real)                                                                                 \
  inline cublasStatus_t cublas##P##gemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, \
                                        int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,       \
                                        const T* beta, T* c, int ldc) {                                               \
    const auto at_least = [](int stride, int rows) { return stride >= (rows > 1 ? rows : 1); };                       \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                \
    if (m < 0 || n < 0 || k < 0 || !at_least(lda, of_a == CUBLAS_OP_N ? m : k) ||                                     \
        !at_least(ldb, of_b == CUBLAS_OP_N ? k : n) || !at_least(ldc, m))                                             \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                             \
    const simt::blas::Scalar<T> of_product(handle, alpha), of_c(handle, beta);                                        \
    return simt::blas::run(handle, "cublas" #P "gemm", [=] {                                                          \
      const auto element = [](const T* matrix, cublasOperation_t op, long long row, long long column, int stride) {   \
        const T one = matrix[op == CUBLAS_OP_N ? row + column * stride : column + row * stride];                      \
        return make_cuDoubleComplex(one.x, op == CUBLAS_OP_C ? -one.y : one.y);                                       \
      };                                                                                                              \
      const cuDoubleComplex x = make_cuDoubleComplex(of_product.get().x, of_product.get().y),                         \
                            y = make_cuDoubleComplex(of_c.get().x, of_c.get().y);                                     \
      for (int column = 0; column < n; column++) {                                                                    \
        for (int row = 0; row < m; row++) {                                                                           \
          cuDoubleComplex sum = make_cuDoubleComplex(0, 0);                                                           \
          for (int i = 0; i < k; i++)                                                                                 \
            sum = cuCfma(element(a, of_a, row, i, lda), element(b, of_b, i, column, ldb), sum);                       \
          sum = cuCmul(x, sum);                                                                                       \
          T& to = c[row + static_cast<long long>(column) * ldc];                                                      \
          if (y.x != 0 || y.y != 0) sum = cuCfma(y, make_cuDoubleComplex(to.x, to.y), sum);                           \
          to = T{static_cast<real>(sum.x), static_cast<real>(sum.y)};                                                 \
        }                                                                                                             \
      }                                                                                                               \
    });                                                                                                               \
  }
SIMT_BLAS_COMPLEX(C, cuComplex, float)
SIMT_BLAS_COMPLEX(Z, cuDoubleComplex, double)
#undef SIMT_BLAS_COMPLEX
