// Device math in the global namespace. What <math.h> has already (expf, fmaxf, ...) is used as it is; the fast
// intrinsics are the accurate functions, so they are at least as exact as on the hardware.
#pragma once

#include <math.h>
#include <time.h>

#include <type_traits>

#include "bits.h"
#include "float_by_double.h"
#include "qualifiers.h"
#include "rounding.h"
#include "special_functions.h"

// noexcept: the C library declares some of these names as its own internals.
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return powf(10.0f, x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __tanhf(float x) noexcept { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) noexcept {
  *s = sinf(x);
  *c = cosf(x);
}

// Defined here because the C library's are calls, and kernels take the maximum of every element. A number wins over
// NaN. As vectors: that needs no branch, and every branch of an instrumented kernel is two calls.
namespace simt {
typedef float FourFloats __attribute__((vector_size(16)));
}
__forceinline__ float fmaxf(float a, float b) noexcept {
  const simt::FourFloats x = {a}, y = {b}, larger = ((x > y) | (y != y)) ? x : y;
  return larger[0];
}
__forceinline__ float fminf(float a, float b) noexcept {
  const simt::FourFloats x = {a}, y = {b}, smaller = ((x < y) | (y != y)) ? x : y;
  return smaller[0];
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }

// CUDA's max and min. There is one for each of these pairs of types, so that max(x, 0) of a float and an int is
// ambiguous. For floating point the number wins over NaN, as in fmax.
#define SIMT_MIN_MAX_OF(name, compare, T, A, B)                                           \
  inline T name(A a, B b) {                                                               \
    const T x = static_cast<T>(a), y = static_cast<T>(b);                                 \
    if constexpr (std::is_floating_point<T>::value) return x compare y || y != y ? x : y; \
    return x compare y ? x : y;                                                           \
  }
#define SIMT_MIN_MAX_INTEGERS(name, compare, S, U) \
  SIMT_MIN_MAX_OF(name, compare, S, S, S)          \
  SIMT_MIN_MAX_OF(name, compare, U, U, U)          \
  SIMT_MIN_MAX_OF(name, compare, U, S, U)          \
  SIMT_MIN_MAX_OF(name, compare, U, U, S)
#define SIMT_MIN_MAX(name, compare)                                   \
  SIMT_MIN_MAX_INTEGERS(name, compare, int, unsigned)                 \
  SIMT_MIN_MAX_INTEGERS(name, compare, long, unsigned long)           \
  SIMT_MIN_MAX_INTEGERS(name, compare, long long, unsigned long long) \
  SIMT_MIN_MAX_OF(name, compare, float, float, float)                 \
  SIMT_MIN_MAX_OF(name, compare, double, double, double)              \
  SIMT_MIN_MAX_OF(name, compare, double, float, double)               \
  SIMT_MIN_MAX_OF(name, compare, double, double, float)
SIMT_MIN_MAX(max, >)
SIMT_MIN_MAX(min, <)
#undef SIMT_MIN_MAX
#undef SIMT_MIN_MAX_INTEGERS
#undef SIMT_MIN_MAX_OF
// Templates, for a .cpp file may have functions of its own by these names: CUDA declares them for .cu files alone.
#define SIMT_OF_THE_DEVICE template <typename = void>
SIMT_OF_THE_DEVICE unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
SIMT_OF_THE_DEVICE unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
SIMT_OF_THE_DEVICE long long llmax(long long a, long long b) { return a > b ? a : b; }
SIMT_OF_THE_DEVICE long long llmin(long long a, long long b) { return a < b ? a : b; }
SIMT_OF_THE_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
SIMT_OF_THE_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
#undef SIMT_OF_THE_DEVICE

// Clock ticks: nanoseconds here.
namespace simt {
long long clock_ticks() noexcept;
}
inline long long clock64() { return simt::clock_ticks(); }

#define __trap() __builtin_trap()
