// cublasLtMatmul: D = f(alpha op(A) op(B) + beta C + bias).
#pragma once

namespace simt::blas {

inline size_t bytes_of(cudaDataType_t type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }
inline bool is_real(cudaDataType_t type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF;
}
__host__ __device__ inline double read_as(const void* data, cudaDataType_t type, long long i) {
  switch (type) {
    case CUDA_R_64F: return static_cast<const double*>(data)[i];
    case CUDA_R_16F: return __half2float(static_cast<const __half*>(data)[i]);
    case CUDA_R_16BF: return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    default: return static_cast<const float*>(data)[i];
  }
}
__host__ __device__ inline void write_as(void* data, cudaDataType_t type, long long i, double value) {
  switch (type) {
    case CUDA_R_64F: static_cast<double*>(data)[i] = value; break;
    case CUDA_R_16F: static_cast<__half*>(data)[i] = __float2half(static_cast<float>(value)); break;
    case CUDA_R_16BF: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(static_cast<float>(value)); break;
    default: static_cast<float*>(data)[i] = static_cast<float>(value);
  }
}

inline double scalar_of(const cublasLtMatmulDescOpaque_t* how, const void* from) {
  double bytes = 0;
  const cudaDataType_t type = how->compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F : how->scale;
  cudaMemcpy(&bytes, from, bytes_of(type),
             how->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  return read_as(&bytes, type, 0);
}

}  // namespace simt::blas

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                                     cublasLtMatrixLayout_t of_b, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t of_c, void* d, cublasLtMatrixLayout_t of_d,
                                     const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  using namespace simt::blas;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!how || !alpha || !beta || !of_a || !of_b || !of_c || !of_d) return CUBLAS_STATUS_INVALID_VALUE;
  const int epilogue = how->epilogue;
  if (epilogue & ~(CUBLASLT_EPILOGUE_GELU_BIAS | CUBLASLT_EPILOGUE_RELU_BIAS | CUBLASLT_EPILOGUE_DEFAULT) ||
      !is_real(of_a->type) || !is_real(of_d->type) || of_c->type != of_d->type)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto turned = [](cublasOperation_t op, const cublasLtMatrixLayoutOpaque_t* layout) {
    return (op == CUBLAS_OP_N) == (layout->order == CUBLASLT_ORDER_COL) ? CUBLAS_OP_N : CUBLAS_OP_T;
  };
  const bool a_as_is = how->of_a == CUBLAS_OP_N, b_as_is = how->of_b == CUBLAS_OP_N;
  const uint64_t m = a_as_is ? of_a->rows : of_a->columns, k = a_as_is ? of_a->columns : of_a->rows;
  const uint64_t n = b_as_is ? of_b->columns : of_b->rows;
  if (k != (b_as_is ? of_b->rows : of_b->columns) || m != of_d->rows || n != of_d->columns || m != of_c->rows ||
      n != of_c->columns || of_a->count != of_d->count || of_b->count != of_d->count)
    return CUBLAS_STATUS_INVALID_VALUE;
  const double of_product = scalar_of(how, alpha), factor_of_c = scalar_of(how, beta);
  cublasContext context;
  context.stream = stream;
  const cudaDataType_t wide = of_d->type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  const auto part = [](const void* data, const cublasLtMatrixLayoutOpaque_t* layout, int i) {
    return static_cast<const char*>(data) + i * layout->apart * static_cast<long long>(bytes_of(layout->type));
  };
  // C = alpha op(A) op(B) + beta C, in column-major order.
  const auto multiply = [&](int i, double of_result, void* result, cudaDataType_t type, int64_t ld) {
    const float alpha_of_float = static_cast<float>(of_product), beta_of_float = static_cast<float>(of_result);
    const bool in_double = wide == CUDA_R_64F;
    return cublasGemmEx(
        &context, turned(how->of_a, of_a), turned(how->of_b, of_b), static_cast<int>(m), static_cast<int>(n),
        static_cast<int>(k), in_double ? static_cast<const void*>(&of_product) : &alpha_of_float, part(a, of_a, i),
        of_a->type, static_cast<int>(of_a->ld), part(b, of_b, i), of_b->type, static_cast<int>(of_b->ld),
        in_double ? static_cast<const void*>(&of_result) : &beta_of_float, result, type, static_cast<int>(ld),
        in_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  const bool in_place = factor_of_c == 0 || (c == d && of_c->ld == of_d->ld && of_c->apart == of_d->apart);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT && in_place && of_d->order == CUBLASLT_ORDER_COL &&
      of_c->order == CUBLASLT_ORDER_COL) {
    for (int i = 0; i < of_d->count && !status; i++)
      status = multiply(i, factor_of_c, const_cast<char*>(part(d, of_d, i)), of_d->type, of_d->ld);
    return status;
  }
  // The product alone, not rounded to 16 bits; what is added follows.
  void* product = nullptr;
  if (cudaMallocAsync(&product, m * n * bytes_of(wide), stream)) return CUBLAS_STATUS_ALLOC_FAILED;
  for (int i = 0; i < of_d->count && !status; i++) {
    status = multiply(i, 0, product, wide, static_cast<int64_t>(m));
    if (status) break;
    const void* const added = part(c, of_c, i);
    void* const to = const_cast<char*>(part(d, of_d, i));
    const void* const bias = epilogue & CUBLASLT_EPILOGUE_BIAS ? how->bias : nullptr;
    const cudaDataType_t bias_type = how->bias_type < 0 ? of_d->type : static_cast<cudaDataType_t>(how->bias_type);
    const cublasLtMatrixLayoutOpaque_t layout_c = *of_c, layout_d = *of_d;
    status = run(&context, "cublasLtMatmul", [=] {
      const auto place = [](const cublasLtMatrixLayoutOpaque_t& layout, long long row, long long column) {
        return layout.order == CUBLASLT_ORDER_COL ? column * layout.ld + row : row * layout.ld + column;
      };
      for (long long column = 0; column < static_cast<long long>(n); column++) {
        for (long long row = 0; row < static_cast<long long>(m); row++) {
          double x = read_as(product, wide, column * static_cast<long long>(m) + row);
          if (factor_of_c != 0) x += factor_of_c * read_as(added, layout_c.type, place(layout_c, row, column));
          if (bias) x += read_as(bias, bias_type, row);
          if (epilogue & CUBLASLT_EPILOGUE_RELU) x = x > 0 ? x : 0;
          if (epilogue & CUBLASLT_EPILOGUE_GELU)
            x = 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
          write_as(to, layout_d.type, place(layout_d, row, column), x);
        }
      }
    });
  }
  cudaFreeAsync(product, stream);
  return status;
}
