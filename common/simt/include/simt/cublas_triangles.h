// cuBLAS on symmetric and triangular matrices, of which one triangle is stored and read; rotations; factors and
// inverses of many small matrices. Each is a kernel of one thread, as cublas_vectors.h has them. Sums are added in
// double and rounded once. Column-major.
#pragma once

#include "cublas_matrices.h"

namespace simt::blas {

inline long long at(long long row, long long column, int ld) { return row + column * ld; }
inline bool fits(int ld, int rows) { return rows >= 0 && ld >= (rows > 1 ? rows : 1); }

// Reads the whole of a symmetric matrix, or of op(a triangular one).
template <typename T>
struct Half {
  const T* a;
  int ld;
  bool lower;
  double symmetric(int row, int column) const {
    return (row >= column) == lower ? a[at(row, column, ld)] : a[at(column, row, ld)];
  }
  double triangular(int row, int column, cublasOperation_t op, cublasDiagType_t diagonal) const {
    if (row == column) return diagonal == CUBLAS_DIAG_UNIT ? 1 : double(a[at(row, row, ld)]);
    const int from = op == CUBLAS_OP_N ? row : column, to = op == CUBLAS_OP_N ? column : row;
    return (from > to) == lower ? double(a[at(from, to, ld)]) : 0;
  }
};
template <typename T>
T sum_of(double product, T factor, const T& before) {
  return static_cast<T>(product + (factor == 0 ? 0 : double(factor) * before));
}

// P A = L U with pivots that count from 1; without them rows stay. Returns the first zero on U's diagonal, from 1.
template <typename T>
int factorise(int n, T* a, int lda, int* pivots) {
  int zero_at = 0;
  for (int k = 0; k < n; k++) {
    int largest = k;
    for (int row = k + 1; row < n && pivots; row++)
      if (std::fabs(a[at(row, k, lda)]) > std::fabs(a[at(largest, k, lda)])) largest = row;
    if (pivots) pivots[k] = largest + 1;
    for (int column = 0; column < n && largest != k; column++) {
      const T kept = a[at(k, column, lda)];
      a[at(k, column, lda)] = a[at(largest, column, lda)];
      a[at(largest, column, lda)] = kept;
    }
    const T diagonal = a[at(k, k, lda)];
    if (diagonal == 0) {
      if (!zero_at) zero_at = k + 1;
      continue;
    }
    for (int row = k + 1; row < n; row++) {
      const T factor = a[at(row, k, lda)] /= diagonal;
      for (int column = k + 1; column < n; column++)
        a[at(row, column, lda)] = std::fma(-factor, a[at(k, column, lda)], a[at(row, column, lda)]);
    }
  }
  return zero_at;
}

template <typename T>
void solve_factorised(cublasOperation_t op, int n, int columns, const T* lu, int lda, const int* pivots, T* b,
                      int ldb) {
  const Triangular<T> lower{CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_UNIT, n, columns, lda, ldb};
  const Triangular<T> upper{CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, n, columns, lda, ldb};
  const auto swap_rows = [=](bool backwards) {
    for (int step = 0; step < n && pivots; step++) {
      const int row = backwards ? n - 1 - step : step, other = pivots[row] - 1;
      for (int column = 0; column < columns && other != row; column++) {
        const T kept = b[at(row, column, ldb)];
        b[at(row, column, ldb)] = b[at(other, column, ldb)];
        b[at(other, column, ldb)] = kept;
      }
    }
  };
  if (op == CUBLAS_OP_N) {
    swap_rows(false);
    lower.solve(1, lu, b);
    upper.solve(1, lu, b);
  } else {
    upper.solve(1, lu, b);
    lower.solve(1, lu, b);
    swap_rows(true);
  }
}

template <typename T>
void invert_factorised(int n, const T* lu, int lda, const int* pivots, T* inverse, int ld) {
  for (int column = 0; column < n; column++) {
    for (int row = 0; row < n; row++) inverse[at(row, column, ld)] = row == column;
  }
  solve_factorised(CUBLAS_OP_N, n, n, lu, lda, pivots, inverse, ld);
}

}  // namespace simt::blas

#define SIMT_BLAS_TRIANGLES(P, T)                                                                                      \
  inline cublasStatus_t cublas##P##symv(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,           \
                                        const T* a, int lda, const T* x, int step_x, const T* beta, T* y,              \
                                        int step_y) {                                                                  \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (!simt::blas::fits(lda, n) || !step_x || !step_y) return CUBLAS_STATUS_INVALID_VALUE;                           \
    const simt::blas::Scalar<T> of_product(handle, alpha), of_y(handle, beta);                                         \
    const simt::blas::Half<T> half{a, lda, fill == CUBLAS_FILL_MODE_LOWER};                                            \
    return simt::blas::run(handle, "cublas" #P "symv", [=] {                                                           \
      for (int row = 0; row < n; row++) {                                                                              \
        double sum = 0;                                                                                                \
        for (int k = 0; k < n; k++) sum += half.symmetric(row, k) * simt::blas::element(x, n, step_x, k);              \
        T& to = simt::blas::element(y, n, step_y, row);                                                                \
        to = simt::blas::sum_of(double(of_product.get()) * sum, of_y.get(), to);                                       \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  inline cublasStatus_t cublas##P##syr(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,            \
                                       const T* x, int step, T* a, int lda) {                                          \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (!simt::blas::fits(lda, n) || !step) return CUBLAS_STATUS_INVALID_VALUE;                                        \
    const simt::blas::Scalar<T> factor(handle, alpha);                                                                 \
    return simt::blas::run(handle, "cublas" #P "syr", [=] {                                                            \
      for (int column = 0; column < n; column++) {                                                                     \
        const T scaled = factor.get() * simt::blas::element(x, n, step, column);                                       \
        for (int row = fill == CUBLAS_FILL_MODE_LOWER ? column : 0;                                                    \
             row < (fill == CUBLAS_FILL_MODE_LOWER ? n : column + 1); row++) {                                         \
          T& to = a[simt::blas::at(row, column, lda)];                                                                 \
          to = std::fma(scaled, simt::blas::element(x, n, step, row), to);                                             \
        }                                                                                                              \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  inline cublasStatus_t cublas##P##trmv(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,            \
                                        cublasDiagType_t diagonal, int n, const T* a, int lda, T* x, int step) {       \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (!simt::blas::fits(lda, n) || !step) return CUBLAS_STATUS_INVALID_VALUE;                                        \
    const simt::blas::Half<T> half{a, lda, fill == CUBLAS_FILL_MODE_LOWER};                                            \
    return simt::blas::run(handle, "cublas" #P "trmv", [=] {                                                           \
      const bool lower = half.lower == (op == CUBLAS_OP_N);                                                            \
      for (int i = 0; i < n; i++) { /* what is still needed is replaced last */                                        \
        const int row = lower ? n - 1 - i : i;                                                                         \
        double sum = 0;                                                                                                \
        for (int k = lower ? 0 : row; k < (lower ? row + 1 : n); k++)                                                  \
          sum += half.triangular(row, k, op, diagonal) * simt::blas::element(x, n, step, k);                           \
        simt::blas::element(x, n, step, row) = static_cast<T>(sum);                                                    \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  inline cublasStatus_t cublas##P##trsv(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,            \
                                        cublasDiagType_t diagonal, int n, const T* a, int lda, T* x, int step) {       \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (!simt::blas::fits(lda, n) || !step) return CUBLAS_STATUS_INVALID_VALUE;                                        \
    const simt::blas::Half<T> half{a, lda, fill == CUBLAS_FILL_MODE_LOWER};                                            \
    return simt::blas::run(handle, "cublas" #P "trsv", [=] {                                                           \
      const bool lower = half.lower == (op == CUBLAS_OP_N);                                                            \
      for (int i = 0; i < n; i++) {                                                                                    \
        const int row = lower ? i : n - 1 - i;                                                                         \
        double rest = simt::blas::element(x, n, step, row);                                                            \
        for (int k = lower ? 0 : row + 1; k < (lower ? row : n); k++)                                                  \
          rest -= half.triangular(row, k, op, diagonal) * simt::blas::element(x, n, step, k);                          \
        simt::blas::element(x, n, step, row) = static_cast<T>(rest / half.triangular(row, row, op, diagonal));         \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  /* C's triangle = alpha op(A) op(A)^T + beta C; op(A) is n x k. */                                                   \
  inline cublasStatus_t cublas##P##syrk(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, int n,     \
                                        int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc) {    \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (k < 0 || !simt::blas::fits(lda, op == CUBLAS_OP_N ? n : k) || !simt::blas::fits(ldc, n))                       \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                              \
    const simt::blas::Scalar<T> of_product(handle, alpha), of_c(handle, beta);                                         \
    return simt::blas::run(handle, "cublas" #P "syrk", [=] {                                                           \
      const auto value = [=](int row, int i) {                                                                         \
        return double(a[op == CUBLAS_OP_N ? simt::blas::at(row, i, lda) : simt::blas::at(i, row, lda)]);               \
      };                                                                                                               \
      for (int column = 0; column < n; column++) {                                                                     \
        for (int row = fill == CUBLAS_FILL_MODE_LOWER ? column : 0;                                                    \
             row < (fill == CUBLAS_FILL_MODE_LOWER ? n : column + 1); row++) {                                         \
          double sum = 0;                                                                                              \
          for (int i = 0; i < k; i++) sum += value(row, i) * value(column, i);                                         \
          T& to = c[simt::blas::at(row, column, ldc)];                                                                 \
          to = simt::blas::sum_of(double(of_product.get()) * sum, of_c.get(), to);                                     \
        }                                                                                                              \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  /* C = alpha A B + beta C, or alpha B A + beta C; A is symmetric, C m x n. */                                        \
  inline cublasStatus_t cublas##P##symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m,    \
                                        int n, const T* alpha, const T* a, int lda, const T* b, int ldb,               \
                                        const T* beta, T* c, int ldc) {                                                \
    const bool left = side == CUBLAS_SIDE_LEFT;                                                                        \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (n < 0 || !simt::blas::fits(lda, left ? m : n) || !simt::blas::fits(ldb, m) || !simt::blas::fits(ldc, m))       \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                              \
    const simt::blas::Scalar<T> of_product(handle, alpha), of_c(handle, beta);                                         \
    const simt::blas::Half<T> half{a, lda, fill == CUBLAS_FILL_MODE_LOWER};                                            \
    return simt::blas::run(handle, "cublas" #P "symm", [=] {                                                           \
      for (int column = 0; column < n; column++) {                                                                     \
        for (int row = 0; row < m; row++) {                                                                            \
          double sum = 0;                                                                                              \
          for (int i = 0; i < (left ? m : n); i++)                                                                     \
            sum += left ? half.symmetric(row, i) * b[simt::blas::at(i, column, ldb)]                                   \
                        : half.symmetric(i, column) * b[simt::blas::at(row, i, ldb)];                                  \
          T& to = c[simt::blas::at(row, column, ldc)];                                                                 \
          to = simt::blas::sum_of(double(of_product.get()) * sum, of_c.get(), to);                                     \
        }                                                                                                              \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  /* C = alpha op(A) B, or alpha B op(A); A is triangular, and C may be B. */                                          \
  inline cublasStatus_t cublas##P##trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,           \
                                        cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T* alpha, \
                                        const T* a, int lda, const T* b, int ldb, T* c, int ldc) {                     \
    const bool left = side == CUBLAS_SIDE_LEFT;                                                                        \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    if (n < 0 || !simt::blas::fits(lda, left ? m : n) || !simt::blas::fits(ldb, m) || !simt::blas::fits(ldc, m))       \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                              \
    const simt::blas::Scalar<T> factor(handle, alpha);                                                                 \
    const simt::blas::Half<T> half{a, lda, fill == CUBLAS_FILL_MODE_LOWER};                                            \
    return simt::blas::run(handle, "cublas" #P "trmm", [=] {                                                           \
      const bool lower = half.lower == (op == CUBLAS_OP_N), from_end = lower == left;                                  \
      const int size = left ? m : n;                                                                                   \
      for (int line = 0; line < (left ? n : m); line++) {                                                              \
        for (int i = 0; i < size; i++) { /* what is still needed is replaced last */                                   \
          const int to = from_end ? size - 1 - i : i;                                                                  \
          double sum = 0;                                                                                              \
          for (int k = from_end ? 0 : to; k < (from_end ? to + 1 : size); k++)                                         \
            sum += left ? half.triangular(to, k, op, diagonal) * b[simt::blas::at(k, line, ldb)]                       \
                        : half.triangular(k, to, op, diagonal) * b[simt::blas::at(line, k, ldb)];                      \
          c[left ? simt::blas::at(to, line, ldc) : simt::blas::at(line, to, ldc)] =                                    \
              static_cast<T>(double(factor.get()) * sum);                                                              \
        }                                                                                                              \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  /* C = diag(x) A, or A diag(x). */                                                                                   \
  inline cublasStatus_t cublas##P##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a,        \
                                        int lda, const T* x, int step, T* c, int ldc) {                                \
    if (n < 0 || !simt::blas::fits(lda, m) || !simt::blas::fits(ldc, m)) return CUBLAS_STATUS_INVALID_VALUE;           \
    return simt::blas::run(handle, "cublas" #P "dgmm", [=] {                                                           \
      const bool left = side == CUBLAS_SIDE_LEFT;                                                                      \
      for (int column = 0; column < n; column++) {                                                                     \
        for (int row = 0; row < m; row++)                                                                              \
          c[simt::blas::at(row, column, ldc)] =                                                                        \
              a[simt::blas::at(row, column, lda)] * simt::blas::element(x, left ? m : n, step, left ? row : column);   \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  inline cublasStatus_t cublas##P##rot(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y,               \
                                       const T* cosine, const T* sine) {                                               \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    const simt::blas::Scalar<T> c(handle, cosine), s(handle, sine);                                                    \
    return simt::blas::run(handle, "cublas" #P "rot", [=] {                                                            \
      for (int i = 0; i < n; i++) {                                                                                    \
        T &one = simt::blas::element(x, n, step_x, i), &other = simt::blas::element(y, n, step_y, i);                  \
        const T kept = one;                                                                                            \
        one = c.get() * kept + s.get() * other;                                                                        \
        other = c.get() * other - s.get() * kept;                                                                      \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  /* The arrays of pointers lie on the device. */                                                                      \
  inline cublasStatus_t cublas##P##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots,      \
                                                int* info, int count) {                                                \
    if (!simt::blas::fits(lda, n) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;                                    \
    return simt::blas::run(handle, "cublas" #P "getrfBatched", [=] {                                                   \
      for (int i = 0; i < count; i++)                                                                                  \
        info[i] = simt::blas::factorise(n, a[i], lda, pivots ? pivots + static_cast<long long>(i) * n : nullptr);      \
    });                                                                                                                \
  }                                                                                                                    \
  inline cublasStatus_t cublas##P##getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda,             \
                                                const int* pivots, T* const c[], int ldc, int* info, int count) {      \
    if (!simt::blas::fits(lda, n) || !simt::blas::fits(ldc, n) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;       \
    return simt::blas::run(handle, "cublas" #P "getriBatched", [=] {                                                   \
      for (int i = 0; i < count; i++) {                                                                                \
        info[i] = 0;                                                                                                   \
        for (int k = n; k-- > 0;)                                                                                      \
          if (a[i][simt::blas::at(k, k, lda)] == 0) info[i] = k + 1;                                                   \
        if (!info[i])                                                                                                  \
          simt::blas::invert_factorised(n, a[i], lda, pivots ? pivots + static_cast<long long>(i) * n : nullptr, c[i], \
                                        ldc);                                                                          \
      }                                                                                                                \
    });                                                                                                                \
  }                                                                                                                    \
  /* info: on the host. */                                                                                             \
  inline cublasStatus_t cublas##P##getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int columns,       \
                                                const T* const a[], int lda, const int* pivots, T* const b[], int ldb, \
                                                int* info, int count) {                                                \
    *info = 0;                                                                                                         \
    if (!simt::blas::fits(lda, n) || !simt::blas::fits(ldb, n) || columns < 0 || count < 0)                            \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                              \
    return simt::blas::run(handle, "cublas" #P "getrsBatched", [=] {                                                   \
      for (int i = 0; i < count; i++)                                                                                  \
        simt::blas::solve_factorised(op, n, columns, a[i], lda,                                                        \
                                     pivots ? pivots + static_cast<long long>(i) * n : nullptr, b[i], ldb);            \
    });                                                                                                                \
  }
SIMT_BLAS_TRIANGLES(S, float)
SIMT_BLAS_TRIANGLES(D, double)
#undef SIMT_BLAS_TRIANGLES
