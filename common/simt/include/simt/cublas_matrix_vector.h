// cuBLAS on a matrix and vectors: products, updates and triangular systems of full, packed and banded matrices.
#pragma once

#include "cublas_numbers.h"

namespace simt::blas {

// y = alpha A x + beta y, with A's elements as `read` gives them.
template <typename T, typename Read>
void multiply(int rows, int columns, const Read& read, const Wide<T>& alpha, const T* x, int step_x,
              const Wide<T>& beta, T* y, int step_y) {
  for (int row = 0; row < rows; row++) {
    Wide<T> sum = 0;
    for (int column = 0; column < columns; column++)
      sum += read(row, column) * wide(element(x, columns, step_x, column));
    store<T>(element(y, rows, step_y, row), alpha * sum, beta);
  }
}

template <typename T, typename Read>
cublasStatus_t run_multiply(cublasHandle_t handle, const char* name, bool is_valid, int rows, int columns,
                            const Read& read, const T* alpha, const T* x, int step_x, const T* beta, T* y, int step_y) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!is_valid || rows < 0 || columns < 0 || !step_x || !step_y) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> of_product(handle, alpha), of_y(handle, beta);
  return run(handle, name,
             [=] { multiply<T>(rows, columns, read, wide(of_product.get()), x, step_x, wide(of_y.get()), y, step_y); });
}

template <typename T>
cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, const T* a, int lda,
                    const T* x, int step_x, const T* beta, T* y, int step_y) {
  const Matrix<T> matrix{a, full(lda)};
  const bool straight = op == CUBLAS_OP_N;
  return run_multiply<T>(
      handle, SIMT_BLAS_NAME(gemv, T), fits(lda, m), straight ? m : n, straight ? n : m,
      [=](int row, int column) { return matrix.of(op, row, column); }, alpha, x, step_x, beta, y, step_y);
}
template <typename T>
cublasStatus_t gbmv(cublasHandle_t handle, cublasOperation_t op, int m, int n, int below, int above, const T* alpha,
                    const T* a, int lda, const T* x, int step_x, const T* beta, T* y, int step_y) {
  const Matrix<T> matrix{a, {Layout::band, n, lda, false, below, above}};
  const bool straight = op == CUBLAS_OP_N;
  return run_multiply<T>(
      handle, SIMT_BLAS_NAME(gbmv, T), below >= 0 && above >= 0 && lda > below + above, straight ? m : n,
      straight ? n : m, [=](int row, int column) { return matrix.of(op, row, column); }, alpha, x, step_x, beta, y,
      step_y);
}

// Symmetric and Hermitian matrices.
#define SIMT_BLAS_MIRRORED(name, mirrored)                                                                          \
  template <typename T>                                                                                             \
  cublasStatus_t name##mv(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha, const T* a, int lda, \
                          const T* x, int step_x, const T* beta, T* y, int step_y) {                                \
    const Matrix<T> matrix{a, full(lda), fill == CUBLAS_FILL_MODE_LOWER};                                           \
    return run_multiply<T>(                                                                                         \
        handle, SIMT_BLAS_NAME(name##mv, T), fits(lda, n), n, n,                                                    \
        [=](int row, int column) { return matrix.mirrored(row, column); }, alpha, x, step_x, beta, y, step_y);      \
  }
#define SIMT_BLAS_MIRRORED_BAND(name, mirrored)                                                                        \
  template <typename T>                                                                                                \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, int n, int k, const T* alpha, const T* a, int lda, \
                      const T* x, int step_x, const T* beta, T* y, int step_y) {                                       \
    const Matrix<T> matrix{a, half_band(k, lda, fill), fill == CUBLAS_FILL_MODE_LOWER};                                \
    return run_multiply<T>(                                                                                            \
        handle, SIMT_BLAS_NAME(name, T), k >= 0 && lda > k, n, n,                                                      \
        [=](int row, int column) { return matrix.mirrored(row, column); }, alpha, x, step_x, beta, y, step_y);         \
  }
#define SIMT_BLAS_MIRRORED_PACKED(name, mirrored)                                                                  \
  template <typename T>                                                                                            \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha, const T* a, const T* x, \
                      int step_x, const T* beta, T* y, int step_y) {                                               \
    const Matrix<T> matrix{a, packed_triangle(n, fill), fill == CUBLAS_FILL_MODE_LOWER};                           \
    return run_multiply<T>(                                                                                        \
        handle, SIMT_BLAS_NAME(name, T), true, n, n,                                                               \
        [=](int row, int column) { return matrix.mirrored(row, column); }, alpha, x, step_x, beta, y, step_y);     \
  }
SIMT_BLAS_MIRRORED(sy, symmetric)
SIMT_BLAS_MIRRORED(he, hermitian)
SIMT_BLAS_MIRRORED_BAND(sbmv, symmetric)
SIMT_BLAS_MIRRORED_BAND(hbmv, hermitian)
SIMT_BLAS_MIRRORED_PACKED(spmv, symmetric)
SIMT_BLAS_MIRRORED_PACKED(hpmv, hermitian)
#undef SIMT_BLAS_MIRRORED
#undef SIMT_BLAS_MIRRORED_BAND
#undef SIMT_BLAS_MIRRORED_PACKED

// A's triangle, or with FULL all of it, += what `term` gives; a Hermitian matrix's diagonal stays real.
template <typename T, typename Term>
void update(int rows, int columns, cublasFillMode_t fill, const Layout& layout, T* a, bool is_hermitian,
            const Term& term) {
  for (int column = 0; column < columns; column++) {
    for (int row = fill == CUBLAS_FILL_MODE_LOWER ? column : 0;
         row < (fill == CUBLAS_FILL_MODE_UPPER ? column + 1 : rows); row++) {
      T& to = a[layout.at(row, column)];
      const Wide<T> sum = wide(to) + term(row, column);
      to = narrow<T>(is_hermitian && row == column ? Wide<T>(real_part(sum)) : sum);
    }
  }
}

template <typename T>
cublasStatus_t rank_one(cublasHandle_t handle, const char* name, bool conjugated, int m, int n, const T* alpha,
                        const T* x, int step_x, const T* y, int step_y, T* a, int lda) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || !fits(lda, m) || !step_x || !step_y) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(handle, alpha);
  return run(handle, name, [=] {
    update<T>(m, n, CUBLAS_FILL_MODE_FULL, full(lda), a, false, [=](int row, int column) {
      const Wide<T> other = wide(element(y, n, step_y, column));
      return wide(factor.get()) * wide(element(x, m, step_x, row)) * (conjugated ? conjugate(other) : other);
    });
  });
}
template <typename T>
cublasStatus_t geru(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int step_x, const T* y, int step_y,
                    T* a, int lda) {
  return rank_one<T>(handle, SIMT_BLAS_NAME(geru, T), false, m, n, alpha, x, step_x, y, step_y, a, lda);
}
template <typename T>
cublasStatus_t gerc(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int step_x, const T* y, int step_y,
                    T* a, int lda) {
  return rank_one<T>(handle, SIMT_BLAS_NAME(gerc, T), true, m, n, alpha, x, step_x, y, step_y, a, lda);
}

// A += alpha x x^T, or x x^H with a real alpha.
template <typename T, bool is_hermitian, typename Factor>
cublasStatus_t update_by(cublasHandle_t handle, const char* name, cublasFillMode_t fill, int n, const Factor* alpha,
                         const T* x, int step, T* a, const Layout& layout) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || (layout.kind == Layout::matrix && !fits(layout.ld, n)) || !step) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<Factor> factor(handle, alpha);
  return run(handle, name, [=] {
    update<T>(n, n, fill, layout, a, is_hermitian, [=](int row, int column) {
      const Wide<T> other = wide(element(x, n, step, column));
      return wide(factor.get()) * wide(element(x, n, step, row)) * (is_hermitian ? conjugate(other) : other);
    });
  });
}
// A += alpha x y^T + alpha y x^T, or alpha x y^H + conj(alpha) y x^H.
template <typename T, bool is_hermitian>
cublasStatus_t update_by_two(cublasHandle_t handle, const char* name, cublasFillMode_t fill, int n, const T* alpha,
                             const T* x, int step_x, const T* y, int step_y, T* a, const Layout& layout) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || (layout.kind == Layout::matrix && !fits(layout.ld, n)) || !step_x || !step_y)
    return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(handle, alpha);
  return run(handle, name, [=] {
    update<T>(n, n, fill, layout, a, is_hermitian, [=](int row, int column) {
      const auto turned = [](const Wide<T>& value) { return is_hermitian ? conjugate(value) : value; };
      const auto of_x = [=](int i) { return wide(element(x, n, step_x, i)); };
      const auto of_y = [=](int i) { return wide(element(y, n, step_y, i)); };
      const Wide<T> scale = wide(factor.get());
      return scale * of_x(row) * turned(of_y(column)) + turned(scale) * of_y(row) * turned(of_x(column));
    });
  });
}
#define SIMT_BLAS_UPDATE(name, is_hermitian, Factor)                                                                   \
  template <typename T>                                                                                                \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, int n, const Factor* alpha, const T* x, int step,  \
                      T* a, int lda) {                                                                                 \
    return update_by<T, is_hermitian>(handle, SIMT_BLAS_NAME(name, T), fill, n, alpha, x, step, a, full(lda));         \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  cublasStatus_t name##2(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha, const T* x, int step_x,  \
                         const T* y, int step_y, T* a, int lda) {                                                      \
    return update_by_two<T, is_hermitian>(handle, SIMT_BLAS_NAME(name##2, T), fill, n, alpha, x, step_x, y, step_y, a, \
                                          full(lda));                                                                  \
  }
#define SIMT_BLAS_UPDATE_PACKED(name, is_hermitian, Factor)                                                            \
  template <typename T>                                                                                                \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, int n, const Factor* alpha, const T* x, int step,  \
                      T* a) {                                                                                          \
    return update_by<T, is_hermitian>(handle, SIMT_BLAS_NAME(name, T), fill, n, alpha, x, step, a,                     \
                                      packed_triangle(n, fill));                                                       \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  cublasStatus_t name##2(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha, const T* x, int step_x,  \
                         const T* y, int step_y, T* a) {                                                               \
    return update_by_two<T, is_hermitian>(handle, SIMT_BLAS_NAME(name##2, T), fill, n, alpha, x, step_x, y, step_y, a, \
                                          packed_triangle(n, fill));                                                   \
  }
SIMT_BLAS_UPDATE(syr, false, T)
SIMT_BLAS_UPDATE(her, true, Real<T>)
SIMT_BLAS_UPDATE_PACKED(spr, false, T)
SIMT_BLAS_UPDATE_PACKED(hpr, true, Real<T>)
#undef SIMT_BLAS_UPDATE
#undef SIMT_BLAS_UPDATE_PACKED

}  // namespace simt::blas

SIMT_BLAS_COMPLEX(gemv)
SIMT_BLAS_ALL(gbmv)
SIMT_BLAS_ALL(symv)
SIMT_BLAS_COMPLEX(hemv)
SIMT_BLAS_REAL(sbmv)
SIMT_BLAS_COMPLEX(hbmv)
SIMT_BLAS_REAL(spmv)
SIMT_BLAS_COMPLEX(hpmv)
SIMT_BLAS_COMPLEX(geru)
SIMT_BLAS_COMPLEX(gerc)
SIMT_BLAS_ALL(syr)
SIMT_BLAS_ALL(syr2)
SIMT_BLAS_COMPLEX(her)
SIMT_BLAS_COMPLEX(her2)
SIMT_BLAS_REAL(spr)
SIMT_BLAS_REAL(spr2)
SIMT_BLAS_COMPLEX(hpr)
SIMT_BLAS_COMPLEX(hpr2)
