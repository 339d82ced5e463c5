// cuBLAS's functions on complex vectors (those on real ones are in cublas_vectors.h), and rotations of both.
#pragma once

#include "cublas_numbers.h"

namespace simt::blas {

template <typename T>
cublasStatus_t axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int step_x, T* y, int step_y) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Scalar<T> factor(handle, alpha);
  return run(handle, SIMT_BLAS_NAME(axpy, T), [=] {
    for (int i = 0; i < n; i++) {
      T& to = element(y, n, step_y, i);
      to = narrow<T>(wide(to) + wide(factor.get()) * wide(element(x, n, step_x, i)));
    }
  });
}
template <typename T, typename Factor>
cublasStatus_t scale(cublasHandle_t handle, const char* name, int n, const Factor* alpha, T* x, int step) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Scalar<Factor> factor(handle, alpha);
  return run(handle, name, [=] {
    for (int i = 0; i < n && step > 0; i++) {
      T& to = element(x, n, step, i);
      to = narrow<T>(wide(to) * wide(factor.get()));
    }
  });
}
template <typename T>
cublasStatus_t scal(cublasHandle_t handle, int n, const T* alpha, T* x, int step) {
  return scale(handle, SIMT_BLAS_NAME(scal, T), n, alpha, x, step);
}
template <typename T>
cublasStatus_t real_scal(cublasHandle_t handle, int n, const Real<T>* alpha, T* x, int step) {
  return scale(handle, sizeof(T) == 8 ? "cublasCsscal" : "cublasZdscal", n, alpha, x, step);
}
template <typename T>
cublasStatus_t copy(cublasHandle_t handle, int n, const T* x, int step_x, T* y, int step_y) {
  return run(handle, SIMT_BLAS_NAME(copy, T), [=] {
    for (int i = 0; i < n; i++) element(y, n, step_y, i) = element(x, n, step_x, i);
  });
}
template <typename T>
cublasStatus_t swap(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y) {
  return run(handle, SIMT_BLAS_NAME(swap, T), [=] {
    for (int i = 0; i < n; i++) {
      const T kept = element(x, n, step_x, i);
      element(x, n, step_x, i) = element(y, n, step_y, i);
      element(y, n, step_y, i) = kept;
    }
  });
}

template <typename T, bool is_conjugated>
Wide<T> dot_product(int n, const T* x, int step_x, const T* y, int step_y) {
  Wide<T> sum = 0;
  for (int i = 0; i < n; i++) {
    const Wide<T> one = wide(element(x, n, step_x, i));
    sum += (is_conjugated ? conjugate(one) : one) * wide(element(y, n, step_y, i));
  }
  return sum;
}
template <typename T>
cublasStatus_t dotu(cublasHandle_t handle, int n, const T* x, int step_x, const T* y, int step_y, T* result) {
  return reduce(handle, SIMT_BLAS_NAME(dotu, T), result,
                [=] { return narrow<T>(dot_product<T, false>(n, x, step_x, y, step_y)); });
}
template <typename T>
cublasStatus_t dotc(cublasHandle_t handle, int n, const T* x, int step_x, const T* y, int step_y, T* result) {
  return reduce(handle, SIMT_BLAS_NAME(dotc, T), result,
                [=] { return narrow<T>(dot_product<T, true>(n, x, step_x, y, step_y)); });
}
template <typename T>
cublasStatus_t complex_nrm2(cublasHandle_t handle, int n, const T* x, int step, Real<T>* result) {
  return reduce(handle, sizeof(T) == 8 ? "cublasScnrm2" : "cublasDznrm2", result, [=] {
    double sum = 0;
    for (int i = 0; i < n && step > 0; i++) sum += std::norm(wide(element(x, n, step, i)));
    return static_cast<Real<T>>(std::sqrt(sum));
  });
}

// As BLAS measures a complex number where it adds up or compares: |real| + |imaginary|.
template <typename T>
double magnitude(const T& x) {
  if constexpr (Number<T>::is_complex)
    return std::fabs(double(x.x)) + std::fabs(double(x.y));
  else
    return std::fabs(x);
}
template <typename T>
cublasStatus_t complex_asum(cublasHandle_t handle, int n, const T* x, int step, Real<T>* result) {
  return reduce(handle, sizeof(T) == 8 ? "cublasScasum" : "cublasDzasum", result, [=] {
    double sum = 0;
    for (int i = 0; i < n && step > 0; i++) sum += magnitude(element(x, n, step, i));
    return static_cast<Real<T>>(sum);
  });
}
template <typename T, bool largest>
cublasStatus_t extreme(cublasHandle_t handle, int n, const T* x, int step, int* result) {
  const char* const name =
      sizeof(T) == 8 ? (largest ? "cublasIcamax" : "cublasIcamin") : (largest ? "cublasIzamax" : "cublasIzamin");
  return reduce(handle, name, result, [=] {
    int best = 0;
    for (int i = 1; i < n && step > 0; i++) {
      const double one = magnitude(element(x, n, step, i)), other = magnitude(element(x, n, step, best));
      if (largest ? one > other : one < other) best = i;
    }
    return n > 0 && step > 0 ? best + 1 : 0;
  });
}

// x = c x + s y, y = c y - conj(s) x.
template <typename T, typename Sine>
cublasStatus_t rotate(cublasHandle_t handle, const char* name, int n, T* x, int step_x, T* y, int step_y,
                      const Real<T>* cosine, const Sine* sine) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Scalar<Real<T>> c(handle, cosine);
  const Scalar<Sine> s(handle, sine);
  return run(handle, name, [=] {
    for (int i = 0; i < n; i++) {
      T &one = element(x, n, step_x, i), &other = element(y, n, step_y, i);
      const Wide<T> kept = wide(one), sine_now = wide(s.get());
      one = narrow<T>(double(c.get()) * kept + sine_now * wide(other));
      other = narrow<T>(double(c.get()) * wide(other) - conjugate(sine_now) * kept);
    }
  });
}
template <typename T>
cublasStatus_t rot(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y, const Real<T>* cosine,
                   const T* sine) {
  return rotate(handle, SIMT_BLAS_NAME(rot, T), n, x, step_x, y, step_y, cosine, sine);
}
template <typename T>
cublasStatus_t real_rot(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y, const Real<T>* cosine,
                        const Real<T>* sine) {
  return rotate(handle, sizeof(T) == 8 ? "cublasCsrot" : "cublasZdrot", n, x, step_x, y, step_y, cosine, sine);
}

// Work on a few numbers, which lie on the host or the device as the pointer mode says.
template <typename Work>
cublasStatus_t on_scalars(cublasHandle_t handle, const char* name, const Work& work) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return run(handle, name, work);
  work();
  return CUBLAS_STATUS_SUCCESS;
}
// The rotation that makes b zero. For real numbers b becomes z, from which c and s can be had again.
template <typename T>
cublasStatus_t rotg(cublasHandle_t handle, T* a, T* b, Real<T>* cosine, T* sine) {
  return on_scalars(handle, SIMT_BLAS_NAME(rotg, T), [=] {
    const Wide<T> x = wide(*a), y = wide(*b);
    const double norm = std::sqrt(std::norm(x) + std::norm(y));
    if constexpr (Number<T>::is_complex) {
      const Wide<T> direction = std::abs(x) == 0 ? Wide<T>(1) : x / std::abs(x);
      *cosine = static_cast<Real<T>>(std::abs(x) == 0 ? 0 : std::abs(x) / norm);
      *sine = narrow<T>(std::abs(x) == 0 ? Wide<T>(1) : direction * std::conj(y) / norm);
      *a = narrow<T>(std::abs(x) == 0 ? y : direction * norm);
    } else {
      const double r = (std::fabs(x) > std::fabs(y) ? x : y) < 0 ? -norm : norm;
      const double c = r == 0 ? 1 : x / r, s = r == 0 ? 0 : y / r;
      *cosine = static_cast<T>(c), *sine = static_cast<T>(s), *a = static_cast<T>(r);
      *b = static_cast<T>(std::fabs(x) > std::fabs(y) ? s : c != 0 ? 1 / c : r == 0 ? 0 : 1);
    }
  });
}
// The modified rotation that param describes: its flag, then h11, h21, h12, h22.
template <typename T>
cublasStatus_t rotm(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y, const T* param) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  T kept[5] = {};
  const T* on_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE ? param : nullptr;
  for (int i = 0; i < 5 && !on_device; i++) kept[i] = param[i];
  return run(handle, SIMT_BLAS_NAME(rotm, T), [=] {
    const T* const h = on_device ? on_device : kept;
    if (h[0] == -2) return;
    const double h11 = h[0] == 0 ? 1 : h[1], h21 = h[0] == 1 ? -1 : h[2], h12 = h[0] == 1 ? 1 : h[3],
                 h22 = h[0] == 0 ? 1 : h[4];
    for (int i = 0; i < n; i++) {
      T &one = element(x, n, step_x, i), &other = element(y, n, step_y, i);
      const double w = one, z = other;
      one = static_cast<T>(h11 * w + h12 * z), other = static_cast<T>(h21 * w + h22 * z);
    }
  });
}

}  // namespace simt::blas

SIMT_BLAS_COMPLEX(axpy)
SIMT_BLAS_COMPLEX(scal)
SIMT_BLAS_COMPLEX(copy)
SIMT_BLAS_COMPLEX(swap)
SIMT_BLAS_COMPLEX(dotu)
SIMT_BLAS_COMPLEX(dotc)
SIMT_BLAS_ALL(rot)
SIMT_BLAS_ALL(rotg)
SIMT_BLAS_REAL(rotm)
#define SIMT_BLAS_NAMED(name, function)               \
  inline constexpr auto name = &simt::blas::function; \
  inline constexpr auto name##_v2 = &simt::blas::function;
SIMT_BLAS_NAMED(cublasCsscal, real_scal<cuComplex>)
SIMT_BLAS_NAMED(cublasZdscal, real_scal<cuDoubleComplex>)
SIMT_BLAS_NAMED(cublasScnrm2, complex_nrm2<cuComplex>)
SIMT_BLAS_NAMED(cublasDznrm2, complex_nrm2<cuDoubleComplex>)
SIMT_BLAS_NAMED(cublasScasum, complex_asum<cuComplex>)
SIMT_BLAS_NAMED(cublasDzasum, complex_asum<cuDoubleComplex>)
SIMT_BLAS_NAMED(cublasCsrot, real_rot<cuComplex>)
SIMT_BLAS_NAMED(cublasZdrot, real_rot<cuDoubleComplex>)
#undef SIMT_BLAS_NAMED
#define SIMT_BLAS_NAMED(name, T, largest)                        \
  inline constexpr auto name = &simt::blas::extreme<T, largest>; \
  inline constexpr auto name##_v2 = &simt::blas::extreme<T, largest>;
SIMT_BLAS_NAMED(cublasIcamax, cuComplex, true)
SIMT_BLAS_NAMED(cublasIcamin, cuComplex, false)
SIMT_BLAS_NAMED(cublasIzamax, cuDoubleComplex, true)
SIMT_BLAS_NAMED(cublasIzamin, cuDoubleComplex, false)
#undef SIMT_BLAS_NAMED
