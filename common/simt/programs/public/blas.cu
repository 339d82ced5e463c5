// cuBLAS as programs use it beside their own kernels: vectors, a matrix and a vector, products of four types.
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                                 \
  do {                                                                                                              \
    const cublasStatus_t status = (call);                                                                           \
    if (status != CUBLAS_STATUS_SUCCESS) printf("line %d: %s\n", __LINE__, cublasGetStatusString(status)), wrong++; \
  } while (0)

int wrong = 0;
void near(double found, double right, const char* what) {
  if (!(std::fabs(found - right) <= 1e-3 * (1 + std::fabs(right))))
    printf("%s: %g, not %g\n", what, found, right), wrong++;
}

template <typename T>
T* device(const std::vector<T>& values, int rows, int columns) {
  T* pointer;
  cudaMalloc(&pointer, values.size() * sizeof(T));
  CHECK(cublasSetMatrix(rows, columns, sizeof(T), values.data(), rows, pointer, rows));
  return pointer;
}

template <typename T>
void product(cublasHandle_t handle, const char* what, double tolerance,
             cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T*,
                                    const T*, int, const T*, int, const T*, T*, int)) {
  const int m = 5, n = 4, k = 3;
  std::vector<T> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; i++) a[i] = T(float(i % 7) - 3);
  for (int i = 0; i < k * n; i++) b[i] = T(float(i % 5) / 4);
  for (int i = 0; i < m * n; i++) c[i] = T(1.0f);
  T *x = device(a, m, k), *y = device(b, n, k), *z = device(c, m, n);
  const T alpha = T(2.0f), beta = T(0.5f);
  CHECK(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, x, m, y, n, &beta, z, m));
  CHECK(cublasGetMatrix(m, n, sizeof(T), z, m, c.data(), m));
  for (int row = 0; row < m; row++) {
    for (int column = 0; column < n; column++) {
      double sum = 0;
      for (int i = 0; i < k; i++) sum += double(float(a[row + i * m])) * double(float(b[column + i * n]));
      near(double(float(c[row + column * m])), 2 * sum + 0.5, what);
    }
  }
}

int main() {
  cublasHandle_t handle;
  CHECK(cublasCreate_v2(&handle));
  const int n = 100;
  std::vector<float> x(n), y(n), zeros(n);
  for (int i = 0; i < n; i++) x[i] = std::sin(float(i)), y[i] = std::cos(float(i));
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  CHECK(cublasSetVector(n, sizeof(float), x.data(), 1, a, 1));
  CHECK(cublasSetVector(n, sizeof(float), y.data(), 1, b, 1));
  double dot = 0, squares = 0, sum = 0;
  int largest = 0;
  for (int i = 0; i < n; i++) {
    dot += double(x[i]) * y[i], squares += double(x[i]) * x[i], sum += std::fabs(x[i]);
    if (std::fabs(x[i]) > std::fabs(x[largest])) largest = i;
  }
  float result;
  int at;
  CHECK(cublasSdot_v2(handle, n, a, 1, b, 1, &result));
  near(result, dot, "dot");
  CHECK(cublasSnrm2(handle, n, a, 1, &result));
  near(result, std::sqrt(squares), "nrm2");
  CHECK(cublasSasum(handle, n, a, 1, &result));
  near(result, sum, "asum");
  CHECK(cublasIsamax(handle, n, a, 1, &at));
  near(at, largest + 1, "amax");
  const float alpha = 3, beta = 0.5f;
  CHECK(cublasSaxpy(handle, n, &alpha, a, 1, b, 1));
  CHECK(cublasSscal(handle, n, &beta, a, 1));
  CHECK(cublasSswap(handle, n, a, 1, b, 1));
  std::vector<float> now(n), other(n);
  CHECK(cublasGetVector(n, sizeof(float), a, 1, now.data(), 1));
  CHECK(cublasGetVector(n, sizeof(float), b, 1, other.data(), 1));
  for (int i = 0; i < n; i++) near(now[i], 3 * x[i] + y[i], "axpy"), near(other[i], x[i] / 2, "scal");
  CHECK(cublasScopy(handle, n / 2, b, -2, a, 1));  // from the end, every other one
  CHECK(cublasGetVector(n / 2, sizeof(float), a, 1, now.data(), 1));
  for (int i = 0; i < n / 2; i++) near(now[i], x[n - 2 - 2 * i] / 2, "copy");

  // A is 10 x 8: y = A x, y = A^T x, A += x y^T, and A transposed.
  const int rows = 10, columns = 8;
  std::vector<float> matrix(rows * columns);
  for (int i = 0; i < rows * columns; i++) matrix[i] = float(i % 13) - 6;
  float *m = device(matrix, rows, columns), *t, one = 1, zero = 0;
  cudaMalloc(&t, rows * columns * sizeof(float));
  CHECK(cublasSetVector(n, sizeof(float), x.data(), 1, a, 1));
  CHECK(cublasSgemv(handle, CUBLAS_OP_N, rows, columns, &one, m, rows, a, 1, &zero, b, 1));
  CHECK(cublasGetVector(rows, sizeof(float), b, 1, now.data(), 1));
  CHECK(cublasSgemv(handle, CUBLAS_OP_T, rows, columns, &one, m, rows, a, 1, &zero, b, 1));
  CHECK(cublasGetVector(columns, sizeof(float), b, 1, other.data(), 1));
  for (int row = 0; row < rows; row++) {
    double right = 0;
    for (int column = 0; column < columns; column++) right += double(matrix[row + column * rows]) * x[column];
    near(now[row], right, "gemv");
  }
  for (int column = 0; column < columns; column++) {
    double right = 0;
    for (int row = 0; row < rows; row++) right += double(matrix[row + column * rows]) * x[row];
    near(other[column], right, "gemv, transposed");
  }
  CHECK(cublasSger(handle, rows, columns, &alpha, a, 1, a, 1, m, rows));
  CHECK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, columns, rows, &one, m, rows, &zero, t, columns, t, columns));
  std::vector<float> turned(rows * columns);
  CHECK(cublasGetMatrix(columns, rows, sizeof(float), t, columns, turned.data(), columns));
  for (int row = 0; row < rows; row++) {
    for (int column = 0; column < columns; column++)
      near(turned[column + row * columns], matrix[row + column * rows] + 3 * x[row] * x[column], "ger and geam");
  }

  // Scalars and results that lie on the device.
  float* scalars;
  cudaMalloc(&scalars, 2 * sizeof(float));
  cudaMemcpy(scalars, &alpha, sizeof alpha, cudaMemcpyHostToDevice);
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cublasSscal(handle, n, scalars, a, 1));
  CHECK(cublasSnrm2(handle, n, a, 1, scalars + 1));
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  cudaMemcpy(&result, scalars + 1, sizeof result, cudaMemcpyDeviceToHost);
  near(result, 3 * std::sqrt(squares), "nrm2 on the device");

  product<float>(handle, "Sgemm", 1e-5, cublasSgemm);
  product<double>(handle, "Dgemm", 1e-12, cublasDgemm);
  product<__half>(handle, "Hgemm", 1e-2, cublasHgemm);
  std::vector<__half> h(16);
  for (int i = 0; i < 16; i++) h[i] = __float2half(float(i));
  __half* factor = device(h, 4, 4);
  float *wide, found[16];
  cudaMalloc(&wide, sizeof found);
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, factor, CUDA_R_16F, 4, factor, CUDA_R_16F, 4,
                     &zero, wide, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  cudaMemcpy(found, wide, sizeof found, cudaMemcpyDeviceToHost);
  near(found[5], 1 * 4 + 5 * 5 + 9 * 6 + 13 * 7, "GemmEx of halves");
  if (cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, factor, CUDA_R_16F, 4, factor, CUDA_R_16F, 4, &zero,
                   wide, CUDA_R_32F, 4, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_NOT_SUPPORTED)
    printf("floats computed in half\n"), wrong++;
  CHECK(cublasDestroy(handle));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
