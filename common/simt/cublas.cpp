// The one function of cuBLAS that there is, computed by the host.
#include <cublas_v2.h>

#include "memory.h"

cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc) {
  if (m < 0 || n < 0 || k < 0 || lda < 1 || ldb < 1 || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
  const simt::DeviceMemoryOpen open;
  for (int col = 0; col < n; col++) {
    for (int row = 0; row < m; row++) {
      double sum = 0.0;
      for (int i = 0; i < k; i++) {
        const float left = of_a == CUBLAS_OP_N ? a[size_t(i) * lda + row] : a[size_t(row) * lda + i];
        const float right = of_b == CUBLAS_OP_N ? b[size_t(col) * ldb + i] : b[size_t(i) * ldb + col];
        sum += double(left) * right;
      }
      float& out = c[size_t(col) * ldc + row];
      out = static_cast<float>(*alpha * sum + (*beta == 0.0f ? 0.0 : double(*beta) * out));
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
