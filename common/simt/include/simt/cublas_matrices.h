// cuBLAS's products of matrices where Eigen does not compute (cublas.cpp): complex ones, symmetric and Hermitian ones,
// and updates of a symmetric or Hermitian matrix.
#pragma once

#include "cublas_numbers.h"

namespace simt::blas {

// C = alpha times the product of what `left` and `right` give, + beta C; of C all, or one triangle.
template <typename T, typename Left, typename Right>
void product(int m, int n, int k, const Wide<T>& alpha, const Left& left, const Right& right, const Wide<T>& beta, T* c,
             int ldc, cublasFillMode_t fill = CUBLAS_FILL_MODE_FULL, bool is_hermitian = false) {
  for (int column = 0; column < n; column++) {
    for (int row = fill == CUBLAS_FILL_MODE_LOWER ? column : 0; row < (fill == CUBLAS_FILL_MODE_UPPER ? column + 1 : m);
         row++) {
      Wide<T> sum = 0;
      for (int i = 0; i < k; i++) sum += left(row, i) * right(i, column);
      T& to = c[full(ldc).at(row, column)];
      store<T>(to, alpha * sum, beta);
      if (is_hermitian && row == column) to = narrow<T>(Wide<T>(real_part(wide(to))));
    }
  }
}

template <typename T>
struct General {
  cublasOperation_t of_a, of_b;
  int m, n, k, lda, ldb, ldc;
  bool is_valid() const {
    return n >= 0 && k >= 0 && fits(lda, of_a == CUBLAS_OP_N ? m : k) && fits(ldb, of_b == CUBLAS_OP_N ? k : n) &&
           fits(ldc, m);
  }
  void multiply(const T& alpha, const T* a, const T* b, const T& beta, T* c) const {
    const Matrix<T> left{a, full(lda)}, right{b, full(ldb)};
    product<T>(
        m, n, k, wide(alpha), [&](int row, int i) { return left.of(of_a, row, i); },
        [&](int i, int column) { return right.of(of_b, i, column); }, wide(beta), c, ldc);
  }
};
template <typename T>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                    const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  const General<T> how{of_a, of_b, m, n, k, lda, ldb, ldc};
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!how.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> of_product(handle, alpha), of_c(handle, beta);
  return run(handle, SIMT_BLAS_NAME(gemm, T), [=] { how.multiply(of_product.get(), a, b, of_c.get(), c); });
}
template <typename T>
cublasStatus_t gemm3m(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  return gemm<T>(handle, of_a, of_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename T>
cublasStatus_t gemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                                  int k, const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,
                                  long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int count) {
  const General<T> how{of_a, of_b, m, n, k, lda, ldb, ldc};
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!how.is_valid() || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> of_product(handle, alpha), of_c(handle, beta);
  return run(handle, SIMT_BLAS_NAME(gemmStridedBatched, T), [=] {
    for (int i = 0; i < count; i++)
      how.multiply(of_product.get(), a + i * stride_a, b + i * stride_b, of_c.get(), c + i * stride_c);
  });
}
// The arrays of pointers lie on the device.
template <typename T>
cublasStatus_t gemmBatched(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                           const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta,
                           T* const c[], int ldc, int count) {
  const General<T> how{of_a, of_b, m, n, k, lda, ldb, ldc};
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!how.is_valid() || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> of_product(handle, alpha), of_c(handle, beta);
  return run(handle, SIMT_BLAS_NAME(gemmBatched, T), [=] {
    for (int i = 0; i < count; i++) how.multiply(of_product.get(), a[i], b[i], of_c.get(), c[i]);
  });
}

// C = alpha A B + beta C, or alpha B A + beta C; A is symmetric or Hermitian, C m x n.
#define SIMT_BLAS_MIRRORED(name, mirrored)                                                                       \
  template <typename T>                                                                                          \
  cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m, int n,         \
                      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {  \
    const bool left = side == CUBLAS_SIDE_LEFT;                                                                  \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                           \
    if (n < 0 || !fits(lda, left ? m : n) || !fits(ldb, m) || !fits(ldc, m)) return CUBLAS_STATUS_INVALID_VALUE; \
    const Scalar<T> of_product(handle, alpha), of_c(handle, beta);                                               \
    return run(handle, SIMT_BLAS_NAME(name, T), [=] {                                                            \
      const Matrix<T> half{a, full(lda), fill == CUBLAS_FILL_MODE_LOWER}, other{b, full(ldb)};                   \
      const auto of_a = [=](int row, int column) { return half.mirrored(row, column); };                         \
      const auto of_b = [=](int row, int column) { return other.value(row, column); };                           \
      const Wide<T> x = wide(of_product.get()), y = wide(of_c.get());                                            \
      if (left)                                                                                                  \
        product<T>(m, n, m, x, of_a, of_b, y, c, ldc);                                                           \
      else                                                                                                       \
        product<T>(m, n, n, x, of_b, of_a, y, c, ldc);                                                           \
    });                                                                                                          \
  }
SIMT_BLAS_MIRRORED(symm, symmetric)
SIMT_BLAS_MIRRORED(hemm, hermitian)
#undef SIMT_BLAS_MIRRORED

// C's triangle = alpha op(A) op(B)^T + beta C, with both is_two: + alpha op(B) op(A)^T; or the same with ^H and
// conj(alpha). op(A) and op(B) are n x k.
template <typename T, bool is_hermitian, bool is_two, typename Alpha, typename Beta>
cublasStatus_t update_matrix(cublasHandle_t handle, const char* name, cublasFillMode_t fill, cublasOperation_t op,
                             int n, int k, const Alpha* alpha, const T* a, int lda, const T* b, int ldb,
                             const Beta* beta, T* c, int ldc) {
  const int rows = op == CUBLAS_OP_N ? n : k;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (k < 0 || !fits(lda, rows) || !fits(ldb, rows) || !fits(ldc, n)) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<Alpha> of_product(handle, alpha);
  const Scalar<Beta> of_c(handle, beta);
  return run(handle, name, [=] {
    const Matrix<T> one{a, full(lda)}, other{b, full(ldb)};
    const auto turned = [](const Wide<T>& value) { return is_hermitian ? conjugate(value) : value; };
    const Wide<T> scale = wide(of_product.get());
    // Of two products one: [alpha A, alpha' B] times [B, A] turned.
    const auto left = [=](int row, int i) {
      return i < k ? scale * one.of(op, row, i) : turned(scale) * other.of(op, row, i - k);
    };
    const auto right = [=](int i, int column) {
      return turned(i < k ? other.of(op, column, i) : one.of(op, column, i - k));
    };
    product<T>(n, n, is_two ? 2 * k : k, 1, left, right, wide(of_c.get()), c, ldc, fill, is_hermitian);
  });
}
#define SIMT_BLAS_UPDATE(name, is_hermitian, Alpha, Beta)                                                              \
  template <typename T>                                                                                                \
  cublasStatus_t name##k(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, int n, int k,             \
                         const Beta* alpha, const T* a, int lda, const Beta* beta, T* c, int ldc) {                    \
    return update_matrix<T, is_hermitian, false>(handle, SIMT_BLAS_NAME(name##k, T), fill, op, n, k, alpha, a, lda, a, \
                                                 lda, beta, c, ldc);                                                   \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  cublasStatus_t name##kx(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, int n, int k,            \
                          const T* alpha, const T* a, int lda, const T* b, int ldb, const Beta* beta, T* c, int ldc) { \
    return update_matrix<T, is_hermitian, false>(handle, SIMT_BLAS_NAME(name##kx, T), fill, op, n, k, alpha, a, lda,   \
                                                 b, ldb, beta, c, ldc);                                                \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  cublasStatus_t name##2k(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, int n, int k,            \
                          const T* alpha, const T* a, int lda, const T* b, int ldb, const Beta* beta, T* c, int ldc) { \
    return update_matrix<T, is_hermitian, true>(handle, SIMT_BLAS_NAME(name##2k, T), fill, op, n, k, alpha, a, lda, b, \
                                                ldb, beta, c, ldc);                                                    \
  }
SIMT_BLAS_UPDATE(syr, false, T, T)
SIMT_BLAS_UPDATE(her, true, T, Real<T>)
#undef SIMT_BLAS_UPDATE

// C = alpha op(A) + beta op(B), m x n.
template <typename T>
cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, const T* alpha,
                    const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || !fits(ldc, m)) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> x(handle, alpha), y(handle, beta);
  return run(handle, SIMT_BLAS_NAME(geam, T), [=] {
    const Matrix<T> one{a, full(lda)}, other{b, full(ldb)};
    const Wide<T> first = wide(x.get()), second = wide(y.get());
    for (int column = 0; column < n; column++) {
      for (int row = 0; row < m; row++) {
        Wide<T> sum = 0;
        if (first != Wide<T>(0)) sum += first * one.of(of_a, row, column);
        if (second != Wide<T>(0)) sum += second * other.of(of_b, row, column);
        c[full(ldc).at(row, column)] = narrow<T>(sum);
      }
    }
  });
}
// C = diag(x) A, or A diag(x).
template <typename T>
cublasStatus_t dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a, int lda, const T* x,
                    int step, T* c, int ldc) {
  if (n < 0 || !fits(lda, m) || !fits(ldc, m)) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(dgmm, T), [=] {
    const bool left = side == CUBLAS_SIDE_LEFT;
    for (int column = 0; column < n; column++)
      for (int row = 0; row < m; row++)
        c[full(ldc).at(row, column)] =
            narrow<T>(wide(a[full(lda).at(row, column)]) * wide(element(x, left ? m : n, step, left ? row : column)));
  });
}

}  // namespace simt::blas

SIMT_BLAS_COMPLEX(gemm)
SIMT_BLAS_COMPLEX(gemm3m)
SIMT_BLAS_COMPLEX(gemmStridedBatched)
SIMT_BLAS_COMPLEX(gemmBatched)
SIMT_BLAS_ALL(symm)
SIMT_BLAS_COMPLEX(hemm)
SIMT_BLAS_ALL(syrk)
SIMT_BLAS_ALL(syrkx)
SIMT_BLAS_ALL(syr2k)
SIMT_BLAS_COMPLEX(herk)
SIMT_BLAS_COMPLEX(herkx)
SIMT_BLAS_COMPLEX(her2k)
SIMT_BLAS_COMPLEX(geam)
SIMT_BLAS_ALL(dgmm)
