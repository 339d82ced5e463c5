// cuBLAS on triangular matrices: products and systems, with a vector (full, packed or banded) and with a matrix.
#pragma once

#include "cublas_numbers.h"

namespace simt::blas {

// op(a triangular matrix).
template <typename T>
struct Triangle {
  Matrix<T> matrix;
  bool is_unit, is_transposed, is_conjugated;
  Triangle(const T* a, const Layout& layout, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal)
      : matrix{a, layout, fill == CUBLAS_FILL_MODE_LOWER},
        is_unit(diagonal == CUBLAS_DIAG_UNIT),
        is_transposed(op != CUBLAS_OP_N),
        is_conjugated(op == CUBLAS_OP_C) {}

  Triangle turned() const {
    Triangle other = *this;
    other.is_transposed = !is_transposed;
    return other;
  }
  bool is_lower() const { return matrix.lower != is_transposed; }
  Wide<T> at(int row, int column) const {
    if (row == column && is_unit) return 1;
    const Wide<T> value = is_transposed ? matrix.value(column, row) : matrix.value(row, column);
    return is_conjugated ? conjugate(value) : value;
  }
  // to(i) = alpha times row i of the product with `from`, which may be `to`: what is still needed is replaced last.
  template <typename To, typename From>
  void multiply(int n, const Wide<T>& alpha, const To& to, const From& from) const {
    const bool lower = is_lower();
    for (int i = 0; i < n; i++) {
      const int row = lower ? n - 1 - i : i;
      Wide<T> sum = 0;
      for (int k = lower ? 0 : row; k < (lower ? row + 1 : n); k++) sum += at(row, k) * wide(from(k));
      to(row) = narrow<T>(alpha * sum);
    }
  }
  template <typename Sides>
  void solve(int n, const Wide<T>& alpha, const Sides& x) const {
    const bool lower = is_lower();
    for (int i = 0; i < n; i++) {
      const int row = lower ? i : n - 1 - i;
      Wide<T> rest = alpha * wide(x(row));
      for (int k = lower ? 0 : row + 1; k < (lower ? row : n); k++) rest -= at(row, k) * wide(x(k));
      x(row) = narrow<T>(rest / at(row, row));
    }
  }
};

template <typename T>
cublasStatus_t with_vector(cublasHandle_t handle, const char* name, bool is_valid, bool solves, int n,
                           const Triangle<T>& a, T* x, int step) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!is_valid || n < 0 || !step) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, name, [=] {
    const auto at = [=](int i) -> T& { return element(x, n, step, i); };
    if (solves)
      a.solve(n, 1, at);
    else
      a.multiply(n, 1, at, at);
  });
}
#define SIMT_BLAS_TRIANGULAR(solves, verb)                                                                \
  template <typename T>                                                                                   \
  cublasStatus_t tr##verb(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,             \
                          cublasDiagType_t diagonal, int n, const T* a, int lda, T* x, int step) {        \
    return with_vector<T>(handle, SIMT_BLAS_NAME(tr##verb, T), fits(lda, n), solves, n,                   \
                          {a, full(lda), fill, op, diagonal}, x, step);                                   \
  }                                                                                                       \
  template <typename T>                                                                                   \
  cublasStatus_t tp##verb(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,             \
                          cublasDiagType_t diagonal, int n, const T* a, T* x, int step) {                 \
    return with_vector<T>(handle, SIMT_BLAS_NAME(tp##verb, T), true, solves, n,                           \
                          {a, packed_triangle(n, fill), fill, op, diagonal}, x, step);                    \
  }                                                                                                       \
  template <typename T>                                                                                   \
  cublasStatus_t tb##verb(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,             \
                          cublasDiagType_t diagonal, int n, int k, const T* a, int lda, T* x, int step) { \
    return with_vector<T>(handle, SIMT_BLAS_NAME(tb##verb, T), k >= 0 && lda > k, solves, n,              \
                          {a, half_band(k, lda, fill), fill, op, diagonal}, x, step);                     \
  }
SIMT_BLAS_TRIANGULAR(false, mv)
SIMT_BLAS_TRIANGULAR(true, sv)
#undef SIMT_BLAS_TRIANGULAR

// From the left by columns, from the right by rows, of a matrix of m x n.
template <typename T>
struct Sides {
  bool left;
  int m, n;
  Sides(cublasSideMode_t side, int m, int n) : left(side == CUBLAS_SIDE_LEFT), m(m), n(n) {}
  int size() const { return left ? m : n; }
  bool fit(int lda, int ldb, int ldc) const { return n >= 0 && fits(lda, size()) && fits(ldb, m) && fits(ldc, m); }
  // line(i): element i of a line of b.
  template <typename U>
  auto line(U* b, int ld, int number) const {
    return [=, *this](int i) -> U& {
      return b[left ? i + static_cast<long long>(number) * ld : number + static_cast<long long>(i) * ld];
    };
  }
  void multiply(const Triangle<T>& a, const Wide<T>& alpha, const T* b, int ldb, T* c, int ldc) const {
    for (int i = 0; i < (left ? n : m); i++)
      (left ? a : a.turned()).multiply(size(), alpha, line(c, ldc, i), line(b, ldb, i));
  }
  void solve(const Triangle<T>& a, const Wide<T>& alpha, T* b, int ldb) const {
    for (int i = 0; i < (left ? n : m); i++) (left ? a : a.turned()).solve(size(), alpha, line(b, ldb, i));
  }
};

// C = alpha op(A) B, or alpha B op(A); C may be B.
template <typename T>
cublasStatus_t trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb,
                    T* c, int ldc) {
  const Sides<T> sides(side, m, n);
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!sides.fit(lda, ldb, ldc)) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(handle, alpha);
  return run(handle, SIMT_BLAS_NAME(trmm, T), [=] {
    sides.multiply({a, full(lda), fill, op, diagonal}, wide(factor.get()), b, ldb, c, ldc);
  });
}
// op(A) X = alpha B, or X op(A) = alpha B; X takes B's place.
template <typename T>
cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb) {
  const Sides<T> sides(side, m, n);
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!sides.fit(lda, ldb, ldb)) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(handle, alpha);
  return run(handle, SIMT_BLAS_NAME(trsm, T), [=] {
    sides.solve({a, full(lda), fill, op, diagonal}, wide(factor.get()), b, ldb);
  });
}
// The arrays of pointers lie on the device.
template <typename T>
cublasStatus_t trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                           cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* const a[], int lda,
                           T* const b[], int ldb, int count) {
  const Sides<T> sides(side, m, n);
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!sides.fit(lda, ldb, ldb) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(handle, alpha);
  return run(handle, SIMT_BLAS_NAME(trsmBatched, T), [=] {
    for (int i = 0; i < count; i++) sides.solve({a[i], full(lda), fill, op, diagonal}, wide(factor.get()), b[i], ldb);
  });
}

// A packed triangle from a matrix, and back.
template <typename T>
cublasStatus_t trttp(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* a, int lda, T* packed) {
  if (!fits(lda, n)) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(trttp, T), [=] {
    const Layout layout = packed_triangle(n, fill);
    for (int column = 0; column < n; column++)
      for (int row = layout.lower ? column : 0; row < (layout.lower ? n : column + 1); row++)
        packed[layout.at(row, column)] = a[full(lda).at(row, column)];
  });
}
template <typename T>
cublasStatus_t tpttr(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* packed, T* a, int lda) {
  if (!fits(lda, n)) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(tpttr, T), [=] {
    const Layout layout = packed_triangle(n, fill);
    for (int column = 0; column < n; column++)
      for (int row = layout.lower ? column : 0; row < (layout.lower ? n : column + 1); row++)
        a[full(lda).at(row, column)] = packed[layout.at(row, column)];
  });
}

}  // namespace simt::blas

SIMT_BLAS_ALL(trmv)
SIMT_BLAS_ALL(trsv)
SIMT_BLAS_ALL(tpmv)
SIMT_BLAS_ALL(tpsv)
SIMT_BLAS_ALL(tbmv)
SIMT_BLAS_ALL(tbsv)
SIMT_BLAS_ALL(trmm)
SIMT_BLAS_ALL(trsm)
SIMT_BLAS_ALL(trsmBatched)
SIMT_BLAS_ALL(trttp)
SIMT_BLAS_ALL(tpttr)
