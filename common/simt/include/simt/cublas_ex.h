// cuBLAS's functions on vectors whose types are arguments. The computation is in double, the result rounded once.
#pragma once

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "cublas_complex_vectors.h"

namespace simt::blas {

// A pointer to numbers of a type that is known when the program runs.
struct Numbers {
  void* data;
  cudaDataType_t type;
  Numbers(const void* data, cudaDataType_t type) : data(const_cast<void*>(data)), type(type) {}

  bool is_known() const {
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF ||
           type == CUDA_C_32F || type == CUDA_C_64F;
  }
  std::complex<double> get(long long i = 0) const {
    switch (type) {
      case CUDA_R_64F: return static_cast<double*>(data)[i];
      case CUDA_R_16F: return __half2float(static_cast<__half*>(data)[i]);
      case CUDA_R_16BF: return __bfloat162float(static_cast<__nv_bfloat16*>(data)[i]);
      case CUDA_C_32F: return wide(static_cast<cuComplex*>(data)[i]);
      case CUDA_C_64F: return wide(static_cast<cuDoubleComplex*>(data)[i]);
      default: return static_cast<float*>(data)[i];
    }
  }
  void set(long long i, std::complex<double> value) const {
    const float rounded = static_cast<float>(value.real());
    switch (type) {
      case CUDA_R_64F: static_cast<double*>(data)[i] = value.real(); break;
      case CUDA_R_16F: static_cast<__half*>(data)[i] = __float2half(rounded); break;
      case CUDA_R_16BF: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(rounded); break;
      case CUDA_C_32F: static_cast<cuComplex*>(data)[i] = narrow<cuComplex>(value); break;
      case CUDA_C_64F: static_cast<cuDoubleComplex*>(data)[i] = narrow<cuDoubleComplex>(value); break;
      default: static_cast<float*>(data)[i] = rounded;
    }
  }
};
inline long long place(int n, int step, int i) { return static_cast<long long>(step < 0 ? i - (n - 1) : i) * step; }

// A scalar argument: of the host it is read now.
struct AnyScalar {
  bool on_device;
  Numbers numbers;
  std::complex<double> value;
  AnyScalar(cublasHandle_t handle, const void* data, cudaDataType_t type)
      : on_device(handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE), numbers(data, type) {
    if (!on_device) value = numbers.get();
  }
  std::complex<double> get() const { return on_device ? numbers.get() : value; }
};

// Stores what `work` gives as the pointer mode says.
template <typename Work>
cublasStatus_t reduce_any(cublasHandle_t handle, const char* name, const Numbers& result, const Work& work) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!result.is_known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return run(handle, name, [=] { result.set(0, work()); });
  cuDoubleComplex sum = {};
  const cublasStatus_t status = reduce(handle, name, &sum, [=] { return narrow<cuDoubleComplex>(work()); });
  if (!status) result.set(0, wide(sum));
  return status;
}

template <bool is_conjugated>
cublasStatus_t dot_any(cublasHandle_t handle, const char* name, int n, const Numbers& x, int step_x, const Numbers& y,
                       int step_y, const Numbers& result) {
  if (!x.is_known() || !y.is_known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  return reduce_any(handle, name, result, [=] {
    std::complex<double> sum = 0;
    for (int i = 0; i < n; i++) {
      const std::complex<double> one = x.get(place(n, step_x, i));
      sum += (is_conjugated ? conjugate(one) : one) * y.get(place(n, step_y, i));
    }
    return sum;
  });
}

}  // namespace simt::blas

inline cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType_t type_alpha,
                                   const void* x, cudaDataType_t type_x, int step_x, void* y, cudaDataType_t type_y,
                                   int step_y, cudaDataType_t) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const simt::blas::Numbers from(x, type_x), to(y, type_y);
  if (!from.is_known() || !to.is_known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  const simt::blas::AnyScalar factor(handle, alpha, type_alpha);
  return simt::blas::run(handle, "cublasAxpyEx", [=] {
    for (int i = 0; i < n; i++) {
      const long long at = simt::blas::place(n, step_y, i);
      to.set(at, to.get(at) + factor.get() * from.get(simt::blas::place(n, step_x, i)));
    }
  });
}
inline cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType_t type_alpha, void* x,
                                   cudaDataType_t type_x, int step, cudaDataType_t) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const simt::blas::Numbers to(x, type_x);
  if (!to.is_known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  const simt::blas::AnyScalar factor(handle, alpha, type_alpha);
  return simt::blas::run(handle, "cublasScalEx", [=] {
    for (long long i = 0; i < n && step > 0; i++) to.set(i * step, factor.get() * to.get(i * step));
  });
}
inline cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType_t type_x, int step_x,
                                  const void* y, cudaDataType_t type_y, int step_y, void* result,
                                  cudaDataType_t type_result, cudaDataType_t) {
  return simt::blas::dot_any<false>(handle, "cublasDotEx", n, {x, type_x}, step_x, {y, type_y}, step_y,
                                    {result, type_result});
}
inline cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void* x, cudaDataType_t type_x, int step_x,
                                   const void* y, cudaDataType_t type_y, int step_y, void* result,
                                   cudaDataType_t type_result, cudaDataType_t) {
  return simt::blas::dot_any<true>(handle, "cublasDotcEx", n, {x, type_x}, step_x, {y, type_y}, step_y,
                                   {result, type_result});
}
inline cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType_t type_x, int step,
                                   void* result, cudaDataType_t type_result, cudaDataType_t) {
  const simt::blas::Numbers from(x, type_x);
  if (!from.is_known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  return simt::blas::reduce_any(handle, "cublasNrm2Ex", {result, type_result}, [=] {
    double sum = 0;
    for (long long i = 0; i < n && step > 0; i++) sum += std::norm(from.get(i * step));
    return std::complex<double>(std::sqrt(sum));
  });
}
inline cublasStatus_t cublasRotEx(cublasHandle_t handle, int n, void* x, cudaDataType_t type_x, int step_x, void* y,
                                  cudaDataType_t type_y, int step_y, const void* cosine, const void* sine,
                                  cudaDataType_t type_of_both, cudaDataType_t) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const simt::blas::Numbers one(x, type_x), other(y, type_y);
  if (!one.is_known() || !other.is_known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  const simt::blas::AnyScalar c(handle, cosine, type_of_both), s(handle, sine, type_of_both);
  return simt::blas::run(handle, "cublasRotEx", [=] {
    for (int i = 0; i < n; i++) {
      const long long at = simt::blas::place(n, step_x, i), there = simt::blas::place(n, step_y, i);
      const std::complex<double> kept = one.get(at), now = other.get(there);
      one.set(at, c.get() * kept + s.get() * now);
      other.set(there, c.get() * now - std::conj(s.get()) * kept);
    }
  });
}
