// cuBLAS's triangular systems and complex products, against the products that they must give.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* pointer;
  EXPECT(cudaMalloc(&pointer, values.size() * sizeof(T)) == cudaSuccess);
  EXPECT(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return pointer;
}
template <typename T>
std::vector<T> on_host(const T* pointer, size_t count) {
  std::vector<T> values(count);
  EXPECT(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return values;
}
static double noise(int i) { return std::sin(i * 12.9898) * 1.7 + std::cos(i * 3.7); }

// op(A) X or X op(A), where A has what is named of it and any numbers elsewhere.
static void triangular(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                       cublasDiagType_t diagonal) {
  const int m = 5, n = 7, size = side == CUBLAS_SIDE_LEFT ? m : n, lda = 9, ldb = 6, count = 2;
  std::vector<double> a(lda * size * count), b(ldb * n * count);
  for (size_t i = 0; i < a.size(); i++) a[i] = noise(i);
  for (int which = 0; which < count; which++)
    for (int i = 0; i < size; i++) a[which * lda * size + i * lda + i] = 4 + i;
  for (size_t i = 0; i < b.size(); i++) b[i] = noise(-int(i));
  double *gpu_a = on_device(a), *gpu_b = on_device(b);
  double *const *pointers_a = on_device(std::vector<double*>{gpu_a, gpu_a + lda * size}),
                *const *pointers_b = on_device(std::vector<double*>{gpu_b, gpu_b + ldb * n});
  const double alpha = 1.5;
  EXPECT(cublasDtrsmBatched(handle, side, fill, op, diagonal, m, n, &alpha, pointers_a, lda, pointers_b, ldb, count) ==
         CUBLAS_STATUS_SUCCESS);
  const auto x = on_host(gpu_b, b.size());
  for (int which = 0; which < count; which++) {
    const auto of_a = [&](int row, int column) {
      if (op != CUBLAS_OP_N) std::swap(row, column);
      if (row == column && diagonal == CUBLAS_DIAG_UNIT) return 1.0;
      const bool is_there = fill == CUBLAS_FILL_MODE_LOWER ? row >= column : row <= column;
      return is_there ? a[which * lda * size + column * lda + row] : 0.0;
    };
    const auto of = [&](const std::vector<double>& matrix, int row, int column) {
      return matrix[which * ldb * n + column * ldb + row];
    };
    for (int row = 0; row < m; row++)
      for (int column = 0; column < n; column++) {
        double sum = 0;
        for (int k = 0; k < size; k++)
          sum += side == CUBLAS_SIDE_LEFT ? of_a(row, k) * of(x, k, column) : of(x, row, k) * of_a(k, column);
        EXPECT(std::abs(sum - alpha * of(b, row, column)) < 1e-9 * (1 + std::abs(sum)));
      }
    for (int column = 0; column < n; column++) EXPECT(of(x, m, column) == of(b, m, column));  // the padding
  }
  std::vector<float> single_b(b.begin(), b.end()), single_a(a.begin(), a.end());
  float *gpu_sa = on_device(single_a), *gpu_sb = on_device(single_b);
  const float factor = 1.5f;
  EXPECT(cublasStrsm(handle, side, fill, op, diagonal, m, n, &factor, gpu_sa, lda, gpu_sb, ldb) ==
         CUBLAS_STATUS_SUCCESS);
  const auto single = on_host(gpu_sb, b.size());
  for (int i = 0; i < ldb * n; i++) EXPECT(std::abs(single[i] - x[i]) < 1e-4 * (1 + std::abs(x[i])));
  EXPECT(cublasStrsm(handle, side, fill, op, diagonal, m, n, &factor, gpu_sa, size - 1, gpu_sb, ldb) ==
         CUBLAS_STATUS_INVALID_VALUE);
  for (void* pointer : {(void*)gpu_a, (void*)gpu_b, (void*)pointers_a, (void*)pointers_b, (void*)gpu_sa, (void*)gpu_sb})
    cudaFree(pointer);
}

static void complex_product(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b) {
  using Complex = std::complex<double>;
  const int m = 4, n = 3, k = 6, lda = 7, ldb = 8, ldc = 5;
  std::vector<cuDoubleComplex> a(lda * 6), b(ldb * 6), c(ldc * n);
  for (size_t i = 0; i < a.size(); i++) a[i] = make_cuDoubleComplex(noise(i), noise(i + 500));
  for (size_t i = 0; i < b.size(); i++) b[i] = make_cuDoubleComplex(noise(i + 900), noise(i + 700));
  for (size_t i = 0; i < c.size(); i++) c[i] = make_cuDoubleComplex(i, -1.0 * i);
  cuDoubleComplex *gpu_a = on_device(a), *gpu_b = on_device(b), *gpu_c = on_device(c);
  const cuDoubleComplex alpha = make_cuDoubleComplex(0.5, -2), beta = make_cuDoubleComplex(1, 0.25);
  EXPECT(cublasZgemm(handle, of_a, of_b, m, n, k, &alpha, gpu_a, lda, gpu_b, ldb, &beta, gpu_c, ldc) ==
         CUBLAS_STATUS_SUCCESS);
  const auto found = on_host(gpu_c, c.size());
  const auto element = [](const std::vector<cuDoubleComplex>& x, cublasOperation_t op, int row, int column, int ld) {
    const cuDoubleComplex one = x[op == CUBLAS_OP_N ? row + column * ld : column + row * ld];
    return op == CUBLAS_OP_C ? Complex(one.x, -one.y) : Complex(one.x, one.y);
  };
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++) {
      Complex sum = 0;
      for (int i = 0; i < k; i++) sum += element(a, of_a, row, i, lda) * element(b, of_b, i, column, ldb);
      const Complex wanted =
          Complex(alpha.x, alpha.y) * sum + Complex(beta.x, beta.y) * element(c, CUBLAS_OP_N, row, column, ldc);
      EXPECT(std::abs(wanted - element(found, CUBLAS_OP_N, row, column, ldc)) < 1e-9);
    }
  for (void* pointer : {gpu_a, gpu_b, gpu_c}) cudaFree(pointer);
}

int main() {
  cublasHandle_t handle;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  for (auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT})
    for (auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
      for (auto op : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (auto diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) triangular(handle, side, fill, op, diagonal);
  for (auto of_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
    for (auto of_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) complex_product(handle, of_a, of_b);

  // Batches by pointers, of 16-bit factors.
  std::vector<__half> halves(32);
  for (int i = 0; i < 32; i++) halves[i] = __float2half(i % 7 - 3);
  __half* factors = on_device(halves);
  float* results = on_device(std::vector<float>(32));
  const void* const* pointers = on_device(std::vector<const void*>{factors, factors + 16});
  void* const* to = on_device(std::vector<void*>{results, results + 16});
  const float one = 1, zero = 0;
  EXPECT(cublasGemmBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 4, 4, 4, &one, pointers, CUDA_R_16F, 4, pointers,
                             CUDA_R_16F, 4, &zero, to, CUDA_R_32F, 4, 2, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  const auto squares = on_host(results, 32);
  for (int i = 0; i < 32; i++) {
    float sum = 0;
    for (int k = 0; k < 4; k++)
      sum += __half2float(halves[i / 16 * 16 + i % 4 * 4 + k]) * __half2float(halves[i / 16 * 16 + i % 16 / 4 * 4 + k]);
    EXPECT(squares[i] == sum);
  }
  EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  if (!wrong) std::printf("PASS\n");
  return wrong ? 1 : 0;
}
