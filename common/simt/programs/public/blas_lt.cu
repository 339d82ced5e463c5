// cublasLtMatmul as programs use it: four types, transposed, by rows, in batches, with a bias and ReLU or GELU.
#include <cublasLt.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cublasStatus_t status = (call);                                                             \
    if (status) printf("line %d: %s: %s\n", __LINE__, #call, cublasGetStatusString(status)), wrong++; \
  } while (0)

int wrong = 0;

template <typename T>
T* up(const std::vector<T>& values) {
  T* device;
  cudaMalloc(&device, values.size() * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

struct Case {
  cublasOperation_t of_a, of_b;
  cublasLtOrder_t order;
  cublasLtEpilogue_t epilogue;
  double beta;
  int count;
};

template <typename T, typename Scale>
void product(cublasLtHandle_t handle, cudaDataType_t type, cudaDataType_t scale, cublasComputeType_t compute,
             double tolerance, const Case& now) {
  const int m = 4, n = 3, k = 5, count = now.count;
  const bool by_column = now.order == CUBLASLT_ORDER_COL;
  std::vector<T> a(m * k * count), b(k * n * count), c(m * n * count), bias(m);
  for (size_t i = 0; i < a.size(); i++) a[i] = T(float(i % 7) - 3);
  for (size_t i = 0; i < b.size(); i++) b[i] = T(float(i % 5) / 4 - 0.5f);
  for (size_t i = 0; i < c.size(); i++) c[i] = T(float(i % 3));
  for (int i = 0; i < m; i++) bias[i] = T(0.25f * float(i));
  T *d_a = up(a), *d_b = up(b), *d_c = up(c), *d_d = up(c), *d_bias = up(bias);
  cublasLtMatmulDesc_t how;
  CHECK(cublasLtMatmulDescCreate(&how, compute, scale));
  CHECK(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &now.of_a, sizeof now.of_a));
  CHECK(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSB, &now.of_b, sizeof now.of_b));
  CHECK(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &now.epilogue, sizeof now.epilogue));
  if (now.epilogue & CUBLASLT_EPILOGUE_BIAS)
    CHECK(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d_bias, sizeof d_bias));
  const bool a_as_is = now.of_a == CUBLAS_OP_N, b_as_is = now.of_b == CUBLAS_OP_N;
  const auto layout = [&](int rows, int columns) {
    cublasLtMatrixLayout_t made;
    CHECK(cublasLtMatrixLayoutCreate(&made, type, rows, columns, by_column ? rows : columns));
    const int64_t apart = rows * columns;
    CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_ORDER, &now.order, sizeof now.order));
    CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart, sizeof apart));
    return made;
  };
  cublasLtMatrixLayout_t of_a = layout(a_as_is ? m : k, a_as_is ? k : m),
                         of_b = layout(b_as_is ? k : n, b_as_is ? n : k), of_c = layout(m, n);
  cublasLtMatmulPreference_t preference;
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  size_t most = 1 << 20;
  CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
  cublasLtMatmulHeuristicResult_t best;
  int found = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, how, of_a, of_b, of_c, of_c, preference, 1, &best, &found));
  const Scale alpha = 2, beta = Scale(now.beta);
  CHECK(cublasLtMatmul(handle, how, &alpha, d_a, of_a, d_b, of_b, &beta, d_c, of_c, d_d, of_c,
                       found ? &best.algo : nullptr, nullptr, 0, nullptr));
  std::vector<T> d(c.size());
  cudaMemcpy(d.data(), d_d, d.size() * sizeof(T), cudaMemcpyDeviceToHost);
  const auto at = [&](int row, int column, int rows, int columns) {
    return by_column ? row + column * rows : row * columns + column;
  };
  for (int i = 0; i < m * n * count; i++) {
    const int batch = i / (m * n), row = i % (m * n) / n, column = i % n;
    double right = 0;
    for (int j = 0; j < k; j++) {
      const T one = a[batch * m * k + (a_as_is ? at(row, j, m, k) : at(j, row, k, m))];
      const T other = b[batch * k * n + (b_as_is ? at(j, column, k, n) : at(column, j, n, k))];
      right += 2 * double(float(one)) * double(float(other));
    }
    const int place = batch * m * n + at(row, column, m, n);
    right += now.beta * double(float(c[place]));
    if (now.epilogue & CUBLASLT_EPILOGUE_BIAS) right += double(float(bias[row]));
    if (now.epilogue & CUBLASLT_EPILOGUE_RELU) right = right > 0 ? right : 0;
    if (now.epilogue & CUBLASLT_EPILOGUE_GELU)
      right *= 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (right + 0.044715 * right * right * right)));
    if (!(std::fabs(double(float(d[place])) - right) <= tolerance * (1 + std::fabs(right))))
      printf("row %d, column %d: %g, not %g\n", row, column, double(float(d[place])), right), wrong++;
  }
  CHECK(cublasLtMatmulPreferenceDestroy(preference));
  for (cublasLtMatrixLayout_t one : {of_a, of_b, of_c}) CHECK(cublasLtMatrixLayoutDestroy(one));
  CHECK(cublasLtMatmulDescDestroy(how));
}

int main() {
  cublasLtHandle_t handle;
  CHECK(cublasLtCreate(&handle));
  const Case cases[] = {
      {CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_ORDER_COL, CUBLASLT_EPILOGUE_DEFAULT, 0, 1},
      {CUBLAS_OP_T, CUBLAS_OP_N, CUBLASLT_ORDER_COL, CUBLASLT_EPILOGUE_BIAS, 0, 1},
      {CUBLAS_OP_N, CUBLAS_OP_T, CUBLASLT_ORDER_ROW, CUBLASLT_EPILOGUE_RELU_BIAS, 0.5, 1},
      {CUBLAS_OP_T, CUBLAS_OP_T, CUBLASLT_ORDER_ROW, CUBLASLT_EPILOGUE_DEFAULT, 0, 2},
      {CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_ORDER_COL, CUBLASLT_EPILOGUE_GELU_BIAS, 0.5, 3},
      {CUBLAS_OP_N, CUBLAS_OP_T, CUBLASLT_ORDER_COL, CUBLASLT_EPILOGUE_RELU, 1, 1},
  };
  for (const Case& now : cases) {
    product<float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5, now);
    product<double, double>(handle, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1e-6, now);
    product<__half, float>(handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-3, now);
    product<__nv_bfloat16, float>(handle, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 8e-3, now);
  }
  cublasLtMatmulDesc_t how;
  CHECK(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const short narrow = 0;
  if (cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &narrow, sizeof narrow) !=
      CUBLAS_STATUS_INVALID_VALUE)
    printf("an attribute of another size\n"), wrong++;
  CHECK(cublasLtMatmulDescDestroy(how));
  CHECK(cublasLtDestroy(handle));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
