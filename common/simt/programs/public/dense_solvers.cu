// cuSOLVER as programs use it: factors of a matrix, systems of equations, eigenvalues, singular values. Each result is
// held against what defines it, computed by the host.
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const int status = int(call);                                                   \
    if (status != 0) printf("line %d: %s: %d\n", __LINE__, #call, status), wrong++; \
  } while (0)

int wrong = 0;
void near(double found, double right, double tolerance, const char* what) {
  if (!(std::fabs(found - right) <= tolerance)) printf("%s: %g, not %g\n", what, found, right), wrong++;
}

template <typename T>
struct Names;
#define NAMES(T, P)                                                     \
  template <>                                                           \
  struct Names<T> {                                                     \
    static constexpr auto getrf_size = cusolverDn##P##getrf_bufferSize; \
    static constexpr auto getrf = cusolverDn##P##getrf;                 \
    static constexpr auto getrs = cusolverDn##P##getrs;                 \
    static constexpr auto potrf = cusolverDn##P##potrf;                 \
    static constexpr auto potrs = cusolverDn##P##potrs;                 \
    static constexpr auto potri = cusolverDn##P##potri;                 \
    static constexpr auto potrf_batched = cusolverDn##P##potrfBatched;  \
    static constexpr auto potrs_batched = cusolverDn##P##potrsBatched;  \
    static constexpr auto geqrf = cusolverDn##P##geqrf;                 \
    static constexpr auto ormqr = cusolverDn##P##ormqr;                 \
    static constexpr auto orgqr = cusolverDn##P##orgqr;                 \
    static constexpr auto syevd = cusolverDn##P##syevd;                 \
    static constexpr auto syevj = cusolverDn##P##syevj;                 \
    static constexpr auto sygvd = cusolverDn##P##sygvd;                 \
    static constexpr auto gesvd = cusolverDn##P##gesvd;                 \
    static constexpr auto gesvdj = cusolverDn##P##gesvdj;               \
  };
NAMES(float, S)
NAMES(double, D)

// Column-major, n rows apart by ld.
template <typename T>
struct Matrix {
  int rows, columns, ld;
  std::vector<T> host;
  T* device;
  Matrix(int rows, int columns, int ld) : rows(rows), columns(columns), ld(ld), host(size_t(ld) * columns, T(77)) {
    cudaMalloc(&device, host.size() * sizeof(T));
  }
  ~Matrix() { cudaFree(device); }
  T& operator()(int row, int column) { return host[size_t(column) * ld + row]; }
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  void down() {
    cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
    for (int column = 0; column < columns; column++) {
      for (int row = rows; row < ld; row++) near((*this)(row, column), 77, 0, "between the columns");
    }
  }
};

double entry(int row, int column) { return std::sin(1.0 + row * 7 + column * 3) + (row == column ? 3 : 0); }

template <typename T>
void solve(cusolverDnHandle_t handle, double tolerance) {
  using F = Names<T>;
  const int n = 6, columns = 2;
  int *pivots, *info, found;
  cudaMalloc(&pivots, n * sizeof(int));
  cudaMalloc(&info, 3 * sizeof(int));
  T* work;
  cudaMalloc(&work, 4096 * sizeof(T));
  const auto ended = [&](int right, const char* what) {
    cudaMemcpy(&found, info, sizeof found, cudaMemcpyDeviceToHost);
    near(found, right, 0, what);
  };
  const auto fill = [](Matrix<T>& a, bool symmetric) {
    for (int column = 0; column < a.columns; column++) {
      for (int row = 0; row < a.rows; row++)
        a(row, column) = T(symmetric ? entry(row, column) + entry(column, row) + (row == column ? 4 : 0)
                                     : entry((row + 2) % a.rows, column));
    }
    a.up();
  };

  // A X = B and its transpose, with pivots and without.
  for (int with_pivots = 0; with_pivots < 2; with_pivots++) {
    for (int transposed = 0; transposed < 2; transposed++) {
      Matrix<T> a(n, n, n + 1), b(n, columns, n + 3);
      fill(a, with_pivots == 0);
      for (int column = 0; column < columns; column++) {
        for (int row = 0; row < n; row++) {
          double sum = 0;
          for (int k = 0; k < n; k++) sum += double(transposed ? a(k, row) : a(row, k)) * (k + 1 + column);
          b(row, column) = T(sum);
        }
      }
      b.up();
      int size = 0;
      CHECK(F::getrf_size(handle, n, n, a.device, a.ld, &size));
      if (size <= 0) printf("getrf: no work area\n"), wrong++;
      int* const rows = with_pivots ? pivots : nullptr;
      CHECK(F::getrf(handle, n, n, a.device, a.ld, work, rows, info));
      ended(0, "getrf's info");
      CHECK(F::getrs(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, columns, a.device, a.ld, rows, b.device, b.ld,
                     info));
      a.down(), b.down();
      for (int column = 0; column < columns; column++) {
        for (int row = 0; row < n; row++) near(b(row, column), row + 1 + column, 20 * tolerance, "getrs");
      }
    }
  }
  Matrix<T> singular(3, 3, 3);
  for (T& one : singular.host) one = 1;
  singular.up();
  CHECK(F::getrf(handle, 3, 3, singular.device, 3, work, pivots, info));
  ended(2, "a singular matrix");

  // Positive definite: the factor, the solution, the inverse, each by one triangle.
  for (const cublasFillMode_t half : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool lower = half == CUBLAS_FILL_MODE_LOWER;
    Matrix<T> a(n, n, n), b(n, 1, n);
    fill(a, true);
    Matrix<T> kept = [&] {
      Matrix<T> same(n, n, n);
      same.host = a.host;
      return same;
    }();
    for (int row = 0; row < n; row++) b(row, 0) = T(row == 0);
    b.up();
    CHECK(F::potrf(handle, half, n, a.device, n, work, 4096, info));
    ended(0, "potrf's info");
    CHECK(F::potrs(handle, half, n, 1, a.device, n, b.device, n, info));
    a.down(), b.down();
    for (int row = 0; row < n; row++) {
      double product = 0;
      for (int k = 0; k < n; k++) product += double(kept(row, k)) * b(k, 0);
      near(product, row == 0, 20 * tolerance, "potrs");
      for (int column = 0; column < n; column++) {
        if (lower ? column > row : column < row) near(a(row, column), kept(row, column), 0, "the other triangle");
        double square = 0;
        for (int k = 0; k <= (row < column ? row : column); k++)
          square += lower ? double(a(row, k)) * a(column, k) : double(a(k, row)) * a(k, column);
        near(square, kept(row, column), 20 * tolerance, "potrf");
      }
    }
    CHECK(F::potri(handle, half, n, a.device, n, work, 4096, info));
    a.down();
    for (int row = 0; row < n; row++) near(lower ? a(row, 0) : a(0, row), b(row, 0), 20 * tolerance, "potri");
  }
  // One of three is not positive.
  Matrix<T> several(2, 6, 2), sides(2, 3, 2);
  several.host = {4, 2, 2, 5, 4, 2, 2, 1, 9, 3, 3, 2};
  sides.host = {6, 7, 0, 0, 12, 5};
  several.up(), sides.up();
  T *places[] = {several.device, several.device + 4, several.device + 8}, **of_a, **of_b;
  T* side_places[] = {sides.device, sides.device + 2, sides.device + 4};
  cudaMalloc(&of_a, sizeof places);
  cudaMalloc(&of_b, sizeof places);
  cudaMemcpy(of_a, places, sizeof places, cudaMemcpyHostToDevice);
  cudaMemcpy(of_b, side_places, sizeof places, cudaMemcpyHostToDevice);
  CHECK(F::potrf_batched(handle, CUBLAS_FILL_MODE_LOWER, 2, of_a, 2, info, 3));
  int all[3];
  cudaMemcpy(all, info, sizeof all, cudaMemcpyDeviceToHost);
  near(all[0] * 100 + all[1] * 10 + all[2], 20, 0, "potrfBatched's info");
  CHECK(F::potrs_batched(handle, CUBLAS_FILL_MODE_LOWER, 2, 1, of_a, 2, of_b, 2, info, 3));
  sides.down();
  near(sides(0, 0), 1, tolerance * 10, "potrsBatched");
  near(sides(1, 0), 1, tolerance * 10, "potrsBatched");
  near(sides(0, 2), 1, tolerance * 10, "potrsBatched");

  // Q R = A; Q^T A = R from the reflectors; Q itself is orthogonal.
  const int m = 7, k = 4;
  Matrix<T> a(m, k, m + 2), product(m, k, m), turned(k, m, k);
  fill(a, false);
  for (int column = 0; column < k; column++) {
    for (int row = 0; row < m; row++) turned(column, row) = product(row, column) = a(row, column);
  }
  product.up(), turned.up();
  T* factors;
  cudaMalloc(&factors, k * sizeof(T));
  Matrix<T> given(m, k, m);
  given.host = product.host;
  CHECK(F::geqrf(handle, m, k, a.device, a.ld, factors, work, 4096, info));
  CHECK(F::ormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, k, k, a.device, a.ld, factors, product.device, m, work, 4096,
                 info));
  CHECK(F::ormqr(handle, CUBLAS_SIDE_RIGHT, CUBLAS_OP_N, k, m, k, a.device, a.ld, factors, turned.device, k, work, 4096,
                 info));
  a.down(), product.down(), turned.down();
  for (int column = 0; column < k; column++) {
    for (int row = 0; row < m; row++) {
      const double right = row <= column ? double(a(row, column)) : 0;
      near(product(row, column), right, 20 * tolerance, "ormqr");
      near(turned(column, row), right, 20 * tolerance, "ormqr from the right");
    }
  }
  Matrix<T> factored(m, k, m + 2);
  factored.host = a.host;
  CHECK(F::orgqr(handle, m, k, k, a.device, a.ld, factors, work, 4096, info));
  a.down();
  for (int column = 0; column < k; column++) {
    for (int row = 0; row < m; row++) {
      double sum = 0;
      for (int i = 0; i <= column; i++) sum += double(a(row, i)) * factored(i, column);
      near(sum, given(row, column), 20 * tolerance, "orgqr");
    }
  }

  // A v = lambda v, ascending; with B, A v = lambda B v.
  {
    syevjInfo_t how;
    CHECK(cusolverDnCreateSyevjInfo(&how));
    CHECK(cusolverDnXsyevjSetTolerance(how, 1e-9));
    for (int kind = 0; kind < 3; kind++) {
      Matrix<T> s(n, n, n), metric(n, n, n), kept(n, n, n), kept_metric(n, n, n), values(n, 1, n);
      fill(s, true);
      for (int row = 0; row < n; row++) {
        for (int column = 0; column < n; column++)
          metric(row, column) = T(row == column       ? 2
                                  : row + column == 1 ? 0.5
                                                      : 0),
                      kept_metric(row, column) = metric(row, column);
      }
      metric.up();
      kept.host = s.host;
      const cusolverEigMode_t mode = CUSOLVER_EIG_MODE_VECTOR;
      if (kind == 0)
        CHECK(F::syevd(handle, mode, CUBLAS_FILL_MODE_UPPER, n, s.device, n, values.device, work, 4096, info));
      if (kind == 1)
        CHECK(F::syevj(handle, mode, CUBLAS_FILL_MODE_LOWER, n, s.device, n, values.device, work, 4096, info, how));
      if (kind == 2)
        CHECK(F::sygvd(handle, CUSOLVER_EIG_TYPE_1, mode, CUBLAS_FILL_MODE_LOWER, n, s.device, n, metric.device, n,
                       values.device, work, 4096, info));
      ended(0, "syevd's info");
      s.down(), values.down();
      for (int i = 0; i < n; i++) {
        if (i && values(i, 0) < values(i - 1, 0)) printf("eigenvalues do not ascend\n"), wrong++;
        for (int row = 0; row < n; row++) {
          double one = 0, other = 0;
          for (int c = 0; c < n; c++) {
            one += double(kept(row, c)) * s(c, i);
            other += (kind == 2 ? double(kept_metric(row, c)) : row == c) * s(c, i);
          }
          near(one, other * values(i, 0), 50 * tolerance, "an eigenvector");
        }
      }
    }
    CHECK(cusolverDnDestroySyevjInfo(how));
  }

  // U S V^T = A, with all of U and with part of it; V itself from gesvdj.
  gesvdjInfo_t how;
  CHECK(cusolverDnCreateGesvdjInfo(&how));
  for (int kind = 0; kind < 4; kind++) {
    Matrix<T> s(m, k, m), u(m, m, m), v(k, k, k), values(k, 1, k);
    s.host = given.host;
    s.up();
    if (kind < 2)
      CHECK(F::gesvd(handle, kind ? 'A' : 'S', kind ? 'A' : 'S', m, k, s.device, m, values.device, u.device, m,
                     v.device, k, work, 4096, nullptr, info));
    else
      CHECK(F::gesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, kind == 2, m, k, s.device, m, values.device, u.device, m,
                      v.device, k, work, 4096, info, how));
    if (kind == 0 || kind == 2) cudaMemset(u.device + m * k, 0, sizeof(T) * m * (m - k));
    u.down(), v.down(), values.down();
    for (int row = 0; row < m; row++) {
      for (int column = 0; column < k; column++) {
        double sum = 0;
        for (int i = 0; i < k; i++) sum += double(u(row, i)) * values(i, 0) * (kind < 2 ? v(i, column) : v(column, i));
        near(sum, given(row, column), 50 * tolerance, "singular values");
      }
    }
  }
  CHECK(cusolverDnDestroyGesvdjInfo(how));
}

// The functions with 64-bit sizes.
void solve_wide(cusolverDnHandle_t handle) {
  cusolverDnParams_t params;
  CHECK(cusolverDnCreateParams(&params));
  Matrix<double> a(3, 3, 3), b(3, 1, 3);
  a.host = {1, 4, 7, 2, 5, 8, 3, 6, 10};
  b.host = {1, 2, 3};
  a.up(), b.up();
  int64_t *pivots, rows[3];
  int* info;
  cudaMalloc(&pivots, sizeof rows);
  cudaMalloc(&info, sizeof(int));
  size_t on_device, on_host;
  CHECK(cusolverDnXgetrf_bufferSize(handle, params, 3, 3, CUDA_R_64F, a.device, 3, CUDA_R_64F, &on_device, &on_host));
  void* work;
  cudaMalloc(&work, on_device);
  std::vector<char> host_work(on_host);
  CHECK(cusolverDnXgetrf(handle, params, 3, 3, CUDA_R_64F, a.device, 3, pivots, CUDA_R_64F, work, on_device,
                         host_work.data(), on_host, info));
  CHECK(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, 3, 1, CUDA_R_64F, a.device, 3, pivots, CUDA_R_64F, b.device, 3,
                         info));
  b.down();
  cudaMemcpy(rows, pivots, sizeof rows, cudaMemcpyDeviceToHost);
  near(double(rows[0] * 100 + rows[1] * 10 + rows[2]), 333, 0, "Xgetrf's pivots");
  near(b(0, 0), -1.0 / 3, 1e-9, "Xgetrs");
  near(b(1, 0), 2.0 / 3, 1e-9, "Xgetrs");
  near(b(2, 0), 0, 1e-9, "Xgetrs");
  if (cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, 3, a.device, 2, nullptr, 0, info) !=
      CUSOLVER_STATUS_INVALID_VALUE)
    printf("rows that overlap\n"), wrong++;
}

int main() {
  cusolverDnHandle_t handle;
  CHECK(cusolverDnCreate(&handle));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cusolverDnSetStream(handle, stream));
  solve<float>(handle, 1e-5);
  solve<double>(handle, 1e-12);
  solve_wide(handle);
  CHECK(cusolverDnDestroy(handle));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
