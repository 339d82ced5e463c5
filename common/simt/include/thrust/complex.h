// Complex numbers for kernels and hosts. Functions beyond arithmetic are those of the C++ library.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <type_traits>

namespace thrust {

template <typename T>
class complex {
 public:
  using value_type = T;
  __host__ __device__ complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  template <typename U>
  __host__ __device__ complex(const complex<U>& z) : real_(static_cast<T>(z.real())), imag_(static_cast<T>(z.imag())) {}
  template <typename U>
  __host__ __device__ complex(const std::complex<U>& z)
      : real_(static_cast<T>(z.real())), imag_(static_cast<T>(z.imag())) {}
  __host__ __device__ operator std::complex<T>() const { return {real_, imag_}; }

  __host__ __device__ T real() const { return real_; }
  __host__ __device__ T imag() const { return imag_; }
  __host__ __device__ void real(T value) { real_ = value; }
  __host__ __device__ void imag(T value) { imag_ = value; }

  __host__ __device__ complex& operator+=(complex z) { return *this = *this + z; }
  __host__ __device__ complex& operator-=(complex z) { return *this = *this - z; }
  __host__ __device__ complex& operator*=(complex z) { return *this = *this * z; }
  __host__ __device__ complex& operator/=(complex z) { return *this = *this / z; }

  friend __host__ __device__ complex operator+(complex a) { return a; }
  friend __host__ __device__ complex operator-(complex a) { return {-a.real_, -a.imag_}; }
  friend __host__ __device__ complex operator+(complex a, complex b) { return {a.real_ + b.real_, a.imag_ + b.imag_}; }
  friend __host__ __device__ complex operator-(complex a, complex b) { return {a.real_ - b.real_, a.imag_ - b.imag_}; }
  friend __host__ __device__ complex operator*(complex a, complex b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  // Scaled, so that no square overflows.
  friend __host__ __device__ complex operator/(complex a, complex b) {
    const T scale = T(1) / (fabs(b.real_) + fabs(b.imag_));
    const complex c = {a.real_ * scale, a.imag_ * scale}, d = {b.real_ * scale, b.imag_ * scale};
    const T by = T(1) / (d.real_ * d.real_ + d.imag_ * d.imag_);
    return {(c.real_ * d.real_ + c.imag_ * d.imag_) * by, (c.imag_ * d.real_ - c.real_ * d.imag_) * by};
  }
  friend __host__ __device__ bool operator==(complex a, complex b) { return a.real_ == b.real_ && a.imag_ == b.imag_; }
  friend __host__ __device__ bool operator!=(complex a, complex b) { return !(a == b); }

 private:
  T real_, imag_;
};

template <typename T>
__host__ __device__ T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T>
__host__ __device__ T abs(const complex<T>& z) {
  return hypot(z.real(), z.imag());
}
template <typename T>
__host__ __device__ T arg(const complex<T>& z) {
  return atan2(z.imag(), z.real());
}
template <typename T>
__host__ __device__ complex<T> conj(const complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <typename T>
__host__ __device__ complex<T> polar(const T& radius, const T& angle = T()) {
  return {radius * cos(angle), radius * sin(angle)};
}

#define SIMT_COMPLEX(function)                                   \
  template <typename T>                                          \
  __host__ __device__ complex<T> function(const complex<T>& z) { \
    return std::function(static_cast<std::complex<T>>(z));       \
  }
SIMT_COMPLEX(exp)
SIMT_COMPLEX(log)
SIMT_COMPLEX(log10)
SIMT_COMPLEX(sqrt)
SIMT_COMPLEX(sin)
SIMT_COMPLEX(cos)
SIMT_COMPLEX(tan)
SIMT_COMPLEX(sinh)
SIMT_COMPLEX(cosh)
SIMT_COMPLEX(tanh)
SIMT_COMPLEX(asin)
SIMT_COMPLEX(acos)
SIMT_COMPLEX(atan)
SIMT_COMPLEX(asinh)
SIMT_COMPLEX(acosh)
SIMT_COMPLEX(atanh)
SIMT_COMPLEX(proj)
#undef SIMT_COMPLEX

template <typename T>
__host__ __device__ complex<T> pow(const complex<T>& z, const complex<T>& power) {
  return std::pow(static_cast<std::complex<T>>(z), static_cast<std::complex<T>>(power));
}
template <typename T>
__host__ __device__ complex<T> pow(const complex<T>& z, const T& power) {
  return std::pow(static_cast<std::complex<T>>(z), power);
}

template <typename T, typename Stream>
auto operator<<(Stream& stream, const complex<T>& z) -> decltype(stream << '(' << z.real()) {
  return stream << '(' << z.real() << ',' << z.imag() << ')';
}

}  // namespace thrust
