// cuBLAS on symmetric and triangular matrices, factors and inverses of small matrices, products of 8-bit integers. The
// triangle that must not be read holds numbers that are not.
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cublasStatus_t status = (call);                                                             \
    if (status) printf("line %d: %s: %s\n", __LINE__, #call, cublasGetStatusString(status)), wrong++; \
  } while (0)

int wrong = 0;
void near(double found, double right, const char* what) {
  if (!(std::fabs(found - right) <= 1e-4 * (1 + std::fabs(right))))
    printf("%s: %g, not %g\n", what, found, right), wrong++;
}
template <typename T>
T* up(const std::vector<T>& values) {
  T* device;
  cudaMalloc(&device, values.size() * sizeof(T));
  CHECK(cublasSetVectorAsync(int(values.size()), sizeof(T), values.data(), 1, device, 1, nullptr));
  return device;
}
template <typename T>
std::vector<T> down(const T* device, size_t count) {
  std::vector<T> values(count);
  CHECK(cublasGetVectorAsync(int(count), sizeof(T), device, 1, values.data(), 1, nullptr));
  cudaDeviceSynchronize();
  return values;
}

template <typename T>
struct Names;
#define NAMES(T, P)                                        \
  template <>                                              \
  struct Names<T> {                                        \
    static constexpr auto symv = cublas##P##symv;          \
    static constexpr auto syr = cublas##P##syr;            \
    static constexpr auto trmv = cublas##P##trmv;          \
    static constexpr auto trsv = cublas##P##trsv;          \
    static constexpr auto syrk = cublas##P##syrk;          \
    static constexpr auto symm = cublas##P##symm;          \
    static constexpr auto trmm = cublas##P##trmm;          \
    static constexpr auto dgmm = cublas##P##dgmm;          \
    static constexpr auto rot = cublas##P##rot;            \
    static constexpr auto getrf = cublas##P##getrfBatched; \
    static constexpr auto getri = cublas##P##getriBatched; \
    static constexpr auto getrs = cublas##P##getrsBatched; \
  };
NAMES(float, S)
NAMES(double, D)

const int n = 5, m = 3, ld = 6;
double entry(int row, int column) { return row == column ? 4 + row : std::cos(row * 5 + column * 2.0); }

template <typename T>
void triangles(cublasHandle_t handle) {
  using F = Names<T>;
  const T two = 2, half = T(0.5), zero = 0, one = 1;
  std::vector<T> vector(2 * n), other(n * m), square(ld * m);
  for (int i = 0; i < 2 * n; i++) vector[i] = T(i % 7 - 3);
  for (int i = 0; i < n * m; i++) other[i] = T(i % 4 - 1);
  for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
    std::vector<T> stored(ld * n, T(NAN));
    for (int column = 0; column < n; column++) {
      for (int row = 0; row < n; row++) {
        if (row == column || (row > column) == lower) stored[row + column * ld] = T(entry(row, column));
      }
    }
    const auto symmetric = [&](int row, int column) {
      return double(stored[(row > column) == lower ? row + column * ld : column + row * ld]);
    };
    T *a = up(stored), *x = up(vector), *y = up(vector), *b = up(other);
    CHECK(F::symv(handle, fill, n, &two, a, ld, x, 2, &half, y, -1));
    std::vector<T> found = down(y, n);
    for (int row = 0; row < n; row++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += symmetric(row, k) * vector[2 * k];
      near(found[n - 1 - row], 2 * sum + 0.5 * vector[n - 1 - row], "symv");
    }
    for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
      const bool left = side == CUBLAS_SIDE_LEFT;
      const int rows = left ? n : m, columns = left ? m : n;
      T* c = up(other);
      CHECK(F::symm(handle, side, fill, rows, columns, &two, a, ld, b, rows, &half, c, rows));
      found = down(c, n * m);
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
          double sum = 0;
          for (int k = 0; k < n; k++)
            sum += left ? symmetric(row, k) * other[k + column * rows] : other[row + k * rows] * symmetric(k, column);
          near(found[row + column * rows], 2 * sum + 0.5 * other[row + column * rows], "symm");
        }
      }
    }
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (const cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
        const auto triangular = [&](int row, int column) {
          const int from = op == CUBLAS_OP_N ? row : column, to = op == CUBLAS_OP_N ? column : row;
          if (from == to) return diagonal == CUBLAS_DIAG_UNIT ? 1.0 : double(stored[from + to * ld]);
          return (from > to) == lower ? double(stored[from + to * ld]) : 0.0;
        };
        T* z = up(vector);
        CHECK(F::trmv(handle, fill, op, diagonal, n, a, ld, z, 2));
        found = down(z, 2 * n);
        for (int row = 0; row < n; row++) {
          double sum = 0;
          for (int k = 0; k < n; k++) sum += triangular(row, k) * vector[2 * k];
          near(found[2 * row], sum, "trmv");
          near(found[2 * row + 1], vector[2 * row + 1], "trmv, between");
        }
        CHECK(F::trsv(handle, fill, op, diagonal, n, a, ld, z, 2));
        found = down(z, 2 * n);
        for (int row = 0; row < n; row++) near(found[2 * row], vector[2 * row], "trsv");
        for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
          const bool left = side == CUBLAS_SIDE_LEFT;
          const int rows = left ? n : m, columns = left ? m : n;
          T *c = up(other), *in_place = up(other);
          CHECK(F::trmm(handle, side, fill, op, diagonal, rows, columns, &two, a, ld, b, rows, c, rows));
          CHECK(F::trmm(handle, side, fill, op, diagonal, rows, columns, &two, a, ld, in_place, rows, in_place, rows));
          found = down(c, n * m);
          if (found != down(in_place, n * m)) printf("trmm in place\n"), wrong++;
          for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
              double sum = 0;
              for (int k = 0; k < n; k++)
                sum += left ? triangular(row, k) * other[k + column * rows]
                            : other[row + k * rows] * triangular(k, column);
              near(found[row + column * rows], 2 * sum, "trmm");
            }
          }
        }
      }
    }
    // x x^T and B B^T into one triangle; the other keeps its numbers that are not.
    CHECK(F::syr(handle, fill, n, &two, x, 1, a, ld));
    CHECK(F::syrk(handle, fill, CUBLAS_OP_N, n, m, &two, b, n, &one, a, ld));
    CHECK(F::syrk(handle, fill, CUBLAS_OP_T, n, m, &half, b, m, &one, a, ld));
    found = down(a, ld * n);
    for (int column = 0; column < n; column++) {
      for (int row = 0; row < n; row++) {
        double right = entry(row, column) + 2 * double(vector[row]) * vector[column];
        for (int k = 0; k < m; k++)
          right += 2.0 * other[row + k * n] * other[column + k * n] + 0.5 * other[k + row * m] * other[k + column * m];
        if (row == column || (row > column) == lower)
          near(found[row + column * ld], right, "syr and syrk");
        else if (!std::isnan(found[row + column * ld]))
          printf("the other triangle was written\n"), wrong++;
      }
    }
  }
  T *x = up(vector), *b = up(other), *c = up(other);
  CHECK(F::dgmm(handle, CUBLAS_SIDE_LEFT, n, m, b, n, x, 2, c, n));
  std::vector<T> found = down(c, n * m);
  for (int i = 0; i < n * m; i++) near(found[i], double(other[i]) * vector[2 * (i % n)], "dgmm");
  CHECK(F::dgmm(handle, CUBLAS_SIDE_RIGHT, n, m, b, n, x, 1, c, n));
  found = down(c, n * m);
  for (int i = 0; i < n * m; i++) near(found[i], double(other[i]) * vector[i / n], "dgmm");
  const T cosine = T(0.6), sine = T(0.8);
  CHECK(F::rot(handle, n, x, 1, b, 1, &cosine, &sine));
  found = down(b, n);
  for (int i = 0; i < n; i++) {
    near(down(x, n)[i], 0.6 * vector[i] + 0.8 * other[i], "rot");
    near(found[i], 0.6 * other[i] - 0.8 * vector[i], "rot");
  }

  // Three matrices: the second needs its rows swapped, the third has no inverse.
  std::vector<T> all(3 * 9);
  for (int i = 0; i < 9; i++)
    all[i] = T(entry(i % 3, i / 3)), all[9 + i] = T(i % 4 == 0 ? 0 : entry(i % 3, i / 3 + 1)), all[18 + i] = 1;
  T *matrices = up(all), *inverses = up(all), *sides = up(std::vector<T>(9, 1));
  std::vector<T*> of_a, of_c, of_b;
  for (int i = 0; i < 3; i++)
    of_a.push_back(matrices + 9 * i), of_c.push_back(inverses + 9 * i), of_b.push_back(sides + 3 * i);
  T **d_a = up(of_a), **d_c = up(of_c), **d_b = up(of_b);
  int *pivots = up(std::vector<int>(9)), *info = up(std::vector<int>(3, -1)), host_info = -1;
  CHECK(F::getrf(handle, 3, d_a, 3, pivots, info, 3));
  std::vector<int> state = down(info, 3);
  near(state[0] * 100 + state[1] * 10 + state[2], 2, "getrfBatched's info");
  CHECK(F::getri(handle, 3, d_a, 3, pivots, d_c, 3, info, 3));
  state = down(info, 3);
  near(state[0] * 100 + state[1] * 10 + state[2], 2, "getriBatched's info");
  found = down(inverses, 18);
  for (int i = 0; i < 18; i++) {
    const int at = i / 9 * 9, row = i % 3, column = i % 9 / 3;
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += double(all[at + row + 3 * k]) * found[at + k + 3 * column];
    near(sum, row == column, "getriBatched");
  }
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    cudaMemcpy(sides, std::vector<T>(9, 1).data(), 9 * sizeof(T), cudaMemcpyHostToDevice);
    CHECK(F::getrs(handle, op, 3, 1, d_a, 3, pivots, d_b, 3, &host_info, 2));
    found = down(sides, 6);
    for (int i = 0; i < 6; i++) {
      double sum = 0;
      for (int k = 0; k < 3; k++)
        sum += double(all[i / 3 * 9 + (op == CUBLAS_OP_N ? i % 3 + 3 * k : k + 3 * (i % 3))]) * found[i / 3 * 3 + k];
      near(sum, 1, "getrsBatched");
    }
  }
  (void)zero;
}

int main() {
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  triangles<float>(handle);
  triangles<double>(handle);
  std::vector<signed char> factors(16);
  for (int i = 0; i < 16; i++) factors[i] = static_cast<signed char>(i * 17 - 127);
  signed char* a = up(factors);
  int* c = up(std::vector<int>(16, 3));
  const int alpha = 2, beta = 1;
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 4, &alpha, a, CUDA_R_8I, 4, a, CUDA_R_8I, 4, &beta, c,
                     CUDA_R_32I, 4, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
  const std::vector<int> found = down(c, 16);
  for (int i = 0; i < 16; i++) {
    int sum = 3;
    for (int k = 0; k < 4; k++) sum += 2 * factors[i % 4 + 4 * k] * factors[i / 4 + 4 * k];
    if (found[i] != sum) printf("integers: %d, not %d\n", found[i], sum), wrong++;
  }
  CHECK(cublasDestroy(handle));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
