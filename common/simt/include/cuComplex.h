// Complex numbers of C: cuFloatComplex and cuDoubleComplex are float2 and double2.
#pragma once

#include <math.h>

#include "vector_types.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

namespace simt {

// As CUDA divides: by the divisor scaled to about 1, so that no square overflows.
template <typename Complex>
__host__ __device__ Complex divide(Complex x, Complex y) {
  const auto scale = fabs(y.x) + fabs(y.y);
  const auto inverse = 1 / scale;
  const Complex a = {x.x * inverse, x.y * inverse}, b = {y.x * inverse, y.y * inverse};
  const auto length = 1 / (b.x * b.x + b.y * b.y);
  return {(a.x * b.x + a.y * b.y) * length, (a.y * b.x - a.x * b.y) * length};
}

}  // namespace simt

#define SIMT_COMPLEX(Complex, real, f)                                                                  \
  __host__ __device__ inline real cuCreal##f(Complex x) { return x.x; }                                 \
  __host__ __device__ inline real cuCimag##f(Complex x) { return x.y; }                                 \
  __host__ __device__ inline Complex make_##Complex(real x, real y) { return {x, y}; }                  \
  __host__ __device__ inline Complex cuConj##f(Complex x) { return {x.x, -x.y}; }                       \
  __host__ __device__ inline Complex cuCadd##f(Complex x, Complex y) { return {x.x + y.x, x.y + y.y}; } \
  __host__ __device__ inline Complex cuCsub##f(Complex x, Complex y) { return {x.x - y.x, x.y - y.y}; } \
  __host__ __device__ inline Complex cuCmul##f(Complex x, Complex y) {                                  \
    return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                                              \
  }                                                                                                     \
  __host__ __device__ inline Complex cuCdiv##f(Complex x, Complex y) { return simt::divide(x, y); }     \
  __host__ __device__ inline real cuCabs##f(Complex x) { return hypot##f(x.x, x.y); }                   \
  __host__ __device__ inline Complex cuCfma##f(Complex x, Complex y, Complex z) {                       \
    return {x.x * y.x + z.x - x.y * y.y, x.x * y.y + z.y + x.y * y.x};                                  \
  }
SIMT_COMPLEX(cuFloatComplex, float, f)
SIMT_COMPLEX(cuDoubleComplex, double, )
#undef SIMT_COMPLEX

__host__ __device__ inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
__host__ __device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
__host__ __device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return {static_cast<float>(x.x), static_cast<float>(x.y)};
}
