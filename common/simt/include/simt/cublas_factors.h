// cuBLAS on many small matrices: products with vectors, triangular and orthogonal factors, systems, inverses. The
// arrays of pointers lie on the device, as do infos unless said otherwise.
#pragma once

#include <vector>

#include "cublas_matrix_vector.h"
#include "cublas_matrices.h"
#include "cublas_triangles.h"

namespace simt::blas {

template <typename T>
double length(const Wide<T>& x) {
  return std::abs(x);
}

// P A = L U with pivots that count from 1; without them rows stay. Returns the first zero on U's diagonal, from 1.
template <typename T>
int factorise(int n, T* a, int lda, int* pivots) {
  const auto at = [=](int row, int column) -> T& { return a[full(lda).at(row, column)]; };
  int zero_at = 0;
  for (int k = 0; k < n; k++) {
    int largest = k;
    for (int row = k + 1; row < n && pivots; row++)
      if (length<T>(wide(at(row, k))) > length<T>(wide(at(largest, k)))) largest = row;
    if (pivots) pivots[k] = largest + 1;
    for (int column = 0; column < n && largest != k; column++) {
      const T kept = at(k, column);
      at(k, column) = at(largest, column);
      at(largest, column) = kept;
    }
    const Wide<T> diagonal = wide(at(k, k));
    if (diagonal == Wide<T>(0)) {
      if (!zero_at) zero_at = k + 1;
      continue;
    }
    for (int row = k + 1; row < n; row++) {
      at(row, k) = narrow<T>(wide(at(row, k)) / diagonal);
      for (int column = k + 1; column < n; column++)
        at(row, column) = narrow<T>(wide(at(row, column)) - wide(at(row, k)) * wide(at(k, column)));
    }
  }
  return zero_at;
}

template <typename T>
void solve_factorised(cublasOperation_t op, int n, int columns, const T* lu, int lda, const int* pivots, T* b,
                      int ldb) {
  const Triangle<T> lower(lu, full(lda), CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_UNIT);
  const Triangle<T> upper(lu, full(lda), CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT);
  const Sides<T> sides(CUBLAS_SIDE_LEFT, n, columns);
  const auto swap_rows = [=](bool backwards) {
    for (int step = 0; step < n && pivots; step++) {
      const int row = backwards ? n - 1 - step : step, other = pivots[row] - 1;
      for (int column = 0; column < columns && other != row; column++) {
        const T kept = b[full(ldb).at(row, column)];
        b[full(ldb).at(row, column)] = b[full(ldb).at(other, column)];
        b[full(ldb).at(other, column)] = kept;
      }
    }
  };
  if (op == CUBLAS_OP_N) {
    swap_rows(false);
    sides.solve(lower, 1, b, ldb);
    sides.solve(upper, 1, b, ldb);
  } else {
    sides.solve(upper, 1, b, ldb);
    sides.solve(lower, 1, b, ldb);
    swap_rows(true);
  }
}

template <typename T>
void invert_factorised(int n, const T* lu, int lda, const int* pivots, T* inverse, int ld) {
  for (int column = 0; column < n; column++) {
    for (int row = 0; row < n; row++) inverse[full(ld).at(row, column)] = narrow<T>(Wide<T>(row == column));
  }
  solve_factorised(CUBLAS_OP_N, n, n, lu, lda, pivots, inverse, ld);
}

// A = Q R by reflections H = 1 - tau v v^H, in LAPACK's form: v's first element is 1, the others lie below R.
template <typename T>
void reflect(int m, int n, T* a, int lda, T* tau) {
  const auto at = [=](int row, int column) -> T& { return a[full(lda).at(row, column)]; };
  for (int k = 0; k < (m < n ? m : n); k++) {
    double below = 0;
    for (int row = k + 1; row < m; row++) below += std::norm(wide(at(row, k)));
    const Wide<T> alpha = wide(at(k, k));
    Wide<T> scale = 0;
    if (below == 0 && conjugate(alpha) == alpha) {
      tau[k] = narrow<T>(0);
      continue;
    }
    const double norm = std::sqrt(std::norm(alpha) + below), beta = real_part(alpha) > 0 ? -norm : norm;
    scale = (beta - alpha) / beta;
    for (int row = k + 1; row < m; row++) at(row, k) = narrow<T>(wide(at(row, k)) / (alpha - beta));
    for (int column = k + 1; column < n; column++) {
      Wide<T> sum = wide(at(k, column));
      for (int row = k + 1; row < m; row++) sum += conjugate(wide(at(row, k))) * wide(at(row, column));
      sum *= conjugate(scale);
      at(k, column) = narrow<T>(wide(at(k, column)) - sum);
      for (int row = k + 1; row < m; row++) at(row, column) = narrow<T>(wide(at(row, column)) - wide(at(row, k)) * sum);
    }
    at(k, k) = narrow<T>(Wide<T>(beta));
    tau[k] = narrow<T>(scale);
  }
}

template <typename T>
cublasStatus_t getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info, int count) {
  if (!fits(lda, n) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(getrfBatched, T), [=] {
    for (int i = 0; i < count; i++)
      info[i] = factorise(n, a[i], lda, pivots ? pivots + static_cast<long long>(i) * n : nullptr);
  });
}
template <typename T>
cublasStatus_t getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots, T* const c[],
                            int ldc, int* info, int count) {
  if (!fits(lda, n) || !fits(ldc, n) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(getriBatched, T), [=] {
    for (int i = 0; i < count; i++) {
      info[i] = 0;
      for (int k = n; k-- > 0;)
        if (wide(a[i][full(lda).at(k, k)]) == Wide<T>(0)) info[i] = k + 1;
      if (!info[i])
        invert_factorised(n, a[i], lda, pivots ? pivots + static_cast<long long>(i) * n : nullptr, c[i], ldc);
    }
  });
}
// info: on the host.
template <typename T>
cublasStatus_t getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int columns, const T* const a[],
                            int lda, const int* pivots, T* const b[], int ldb, int* info, int count) {
  *info = 0;
  if (!fits(lda, n) || !fits(ldb, n) || columns < 0 || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(getrsBatched, T), [=] {
    for (int i = 0; i < count; i++)
      solve_factorised(op, n, columns, a[i], lda, pivots ? pivots + static_cast<long long>(i) * n : nullptr, b[i], ldb);
  });
}
// n is at most 32.
template <typename T>
cublasStatus_t matinvBatched(cublasHandle_t handle, int n, const T* const a[], int lda, T* const inverse[], int ld,
                             int* info, int count) {
  if (!fits(lda, n) || !fits(ld, n) || n > 32 || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(matinvBatched, T), [=] {
    for (int i = 0; i < count; i++) {
      T lu[32 * 32];
      int pivots[32];
      for (int column = 0; column < n; column++)
        for (int row = 0; row < n; row++) lu[row + column * n] = a[i][full(lda).at(row, column)];
      info[i] = factorise(n, lu, n, pivots);
      if (!info[i]) invert_factorised(n, lu, n, pivots, inverse[i], ld);
    }
  });
}
// info: on the host.
template <typename T>
cublasStatus_t geqrfBatched(cublasHandle_t handle, int m, int n, T* const a[], int lda, T* const tau[], int* info,
                            int count) {
  *info = 0;
  if (n < 0 || !fits(lda, m) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(geqrfBatched, T), [=] {
    for (int i = 0; i < count; i++) reflect(m, n, a[i], lda, tau[i]);
  });
}
// The least squares of A X = C, m >= n; A is replaced by its factors, the first n rows of C by X. info: on the host;
// infos: null, or which diagonal of R is 0.
template <typename T>
cublasStatus_t gelsBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, T* const a[],
                           int lda, T* const c[], int ldc, int* info, int* infos, int count) {
  *info = 0;
  if (op != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n < 0 || columns < 0 || !fits(lda, m) || !fits(ldc, m) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, SIMT_BLAS_NAME(gelsBatched, T), [=] {
    for (int i = 0; i < count; i++) {
      std::vector<T> tau(n);
      T* const factors = a[i];
      reflect(m, n, factors, lda, tau.data());
      for (int column = 0; column < columns; column++) {
        for (int k = 0; k < n; k++) {  // the conjugated reflections, from the first to the last
          T* const side = c[i] + static_cast<long long>(column) * ldc;
          Wide<T> sum = wide(side[k]);
          for (int row = k + 1; row < m; row++) sum += conjugate(wide(factors[full(lda).at(row, k)])) * wide(side[row]);
          sum *= conjugate(wide(tau[k]));
          side[k] = narrow<T>(wide(side[k]) - sum);
          for (int row = k + 1; row < m; row++)
            side[row] = narrow<T>(wide(side[row]) - wide(factors[full(lda).at(row, k)]) * sum);
        }
      }
      int zero_at = 0;
      for (int k = n; k-- > 0;)
        if (wide(factors[full(lda).at(k, k)]) == Wide<T>(0)) zero_at = k + 1;
      if (infos) infos[i] = zero_at;
      const Triangle<T> upper(factors, full(lda), CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT);
      if (!zero_at) Sides<T>(CUBLAS_SIDE_LEFT, n, columns).solve(upper, 1, c[i], ldc);
    }
  });
}

template <typename T>
cublasStatus_t gemvBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,
                           const T* const a[], int lda, const T* const x[], int step_x, const T* beta, T* const y[],
                           int step_y, int count) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || !fits(lda, m) || !step_x || !step_y || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> of_product(handle, alpha), of_y(handle, beta);
  return run(handle, SIMT_BLAS_NAME(gemvBatched, T), [=] {
    for (int i = 0; i < count; i++) {
      const Matrix<T> matrix{a[i], full(lda)};
      multiply<T>(
          op == CUBLAS_OP_N ? m : n, op == CUBLAS_OP_N ? n : m,
          [&](int row, int column) { return matrix.of(op, row, column); }, wide(of_product.get()), x[i], step_x,
          wide(of_y.get()), y[i], step_y);
    }
  });
}
template <typename T>
cublasStatus_t gemvStridedBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, const T* a,
                                  int lda, long long stride_a, const T* x, int step_x, long long stride_x,
                                  const T* beta, T* y, int step_y, long long stride_y, int count) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || !fits(lda, m) || !step_x || !step_y || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> of_product(handle, alpha), of_y(handle, beta);
  return run(handle, SIMT_BLAS_NAME(gemvStridedBatched, T), [=] {
    for (int i = 0; i < count; i++) {
      const Matrix<T> matrix{a + i * stride_a, full(lda)};
      multiply<T>(
          op == CUBLAS_OP_N ? m : n, op == CUBLAS_OP_N ? n : m,
          [&](int row, int column) { return matrix.of(op, row, column); }, wide(of_product.get()), x + i * stride_x,
          step_x, wide(of_y.get()), y + i * stride_y, step_y);
    }
  });
}

}  // namespace simt::blas

SIMT_BLAS_ALL(getrfBatched)
SIMT_BLAS_ALL(getriBatched)
SIMT_BLAS_ALL(getrsBatched)
SIMT_BLAS_ALL(matinvBatched)
SIMT_BLAS_ALL(geqrfBatched)
SIMT_BLAS_ALL(gelsBatched)
SIMT_BLAS_ALL(gemvBatched)
SIMT_BLAS_ALL(gemvStridedBatched)
