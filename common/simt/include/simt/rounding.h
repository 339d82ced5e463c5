// Arithmetic and conversions that name a rounding: _rn (to nearest), _rz (towards zero), _ru (up), _rd (down).
//
// All but _rn compute the result to nearest and the sign of what that leaves out, exactly, by a fused multiply-add or
// Knuth's two-sum; if the result lies on the wrong side, its neighbour is the answer. (fesetround() would be wrong: the
// compiler moves arithmetic across it.)
#pragma once

#include <cmath>
#include <limits>

namespace simt {

enum class Rounding { nearest, to_zero, up, down };

// `nearest` is the exact value rounded to nearest; `error` has the sign of exact - nearest.
template <typename T, typename Error>
T directed(T nearest, Error error, Rounding mode, bool finite_operands) {
  constexpr T largest = std::numeric_limits<T>::max(), infinity = std::numeric_limits<T>::infinity();
  const bool down = mode == Rounding::down || (mode == Rounding::to_zero && nearest > 0);
  const bool up = mode == Rounding::up || (mode == Rounding::to_zero && nearest < 0);
  if (std::isinf(nearest) && finite_operands)
    return nearest > 0 && down ? largest : nearest < 0 && up ? -largest : nearest;
  if (down && error < 0) return std::nextafter(nearest, -infinity);
  if (up && error > 0) return std::nextafter(nearest, infinity);
  return nearest;
}

// Converts a value that From holds exactly.
template <typename To, typename From>
To round_to(From exact, Rounding mode) {
  const To nearest = static_cast<To>(exact);
  return directed(nearest, exact - static_cast<From>(nearest), mode, std::isfinite(exact));
}

// The sum of numbers that cancel is -0 where it is rounded down, also that of 0 and -0.
template <typename T>
T zero_of(T a, T b, Rounding mode) {
  return mode == Rounding::down && (std::signbit(a) || std::signbit(b)) ? T(-0.0) : a + b;
}

template <typename T>
T add(T a, T b, Rounding mode) {
  const T sum = a + b, b_part = sum - a, error = (a - (sum - b_part)) + (b - b_part);
  if (sum == 0) return zero_of(a, b, mode);
  return directed(sum, error, mode, std::isfinite(a) && std::isfinite(b));
}
template <typename T>
T subtract(T a, T b, Rounding mode) {
  return add(a, -b, mode);
}
// What is left out is taken in double, where a float's does not become 0 below the smallest float.
template <typename T>
T multiply(T a, T b, Rounding mode) {
  const T product = a * b;
  return directed(product, std::fma(double(a), double(b), -double(product)), mode,
                  std::isfinite(a) && std::isfinite(b));
}
template <typename T>
T divide(T a, T b, Rounding mode) {
  const T quotient = a / b;
  const double left = std::fma(-double(quotient), double(b), double(a));
  return directed(quotient, b < 0 ? -left : left, mode, std::isfinite(a) && b != 0);
}
template <typename T>
T square_root(T x, Rounding mode) {
  const T root = std::sqrt(x);
  return directed(root, std::fma(-root, root, x), mode, std::isfinite(x));
}

// a * b is exact in double, and the sum with c is the double `sum` and what it leaves out.
inline float multiply_add(float a, float b, float c, Rounding mode) {
  const double product = static_cast<double>(a) * b, sum = product + c, c_part = sum - product;
  if (sum == 0) return static_cast<float>(zero_of<double>(product, c, mode));
  const double left_out = (product - (sum - c_part)) + (c - c_part);
  const float nearest = static_cast<float>(sum);
  const double error = sum - nearest;
  return directed(nearest, error != 0 ? error : left_out, mode, std::isfinite(sum));
}

// The sum of two numbers, and what it leaves out.
inline double two_sum(double a, double b, double* left_out) {
  const double sum = a + b, b_part = sum - a;
  *left_out = (a - (sum - b_part)) + (b - b_part);
  return sum;
}
// The exact value is the product, what that leaves out, and c: three numbers whose sum is split again until what
// `nearest` leaves out has its sign.
inline double multiply_add(double a, double b, double c, Rounding mode) {
  const double nearest = std::fma(a, b, c), product = a * b, low = std::fma(a, b, -product);
  if (low == 0 && product + c == 0) return zero_of(product, c, mode);
  double of_sum, of_lows, of_all;
  const double sum = two_sum(product, c, &of_sum), lows = two_sum(of_sum, low, &of_lows);
  const double all = two_sum(sum, lows, &of_all);
  return directed(nearest, ((all - nearest) + of_all) + of_lows, mode,
                  std::isfinite(a) && std::isfinite(b) && std::isfinite(c));
}

}  // namespace simt

#define SIMT_ROUNDED(suffix, mode)                                                                                \
  inline float __fadd_##suffix(float a, float b) { return simt::add(a, b, mode); }                                \
  inline float __fsub_##suffix(float a, float b) { return simt::subtract(a, b, mode); }                           \
  inline float __fmul_##suffix(float a, float b) { return simt::multiply(a, b, mode); }                           \
  inline float __fdiv_##suffix(float a, float b) { return simt::divide(a, b, mode); }                             \
  inline float __frcp_##suffix(float x) { return simt::divide(1.0f, x, mode); }                                   \
  inline float __fsqrt_##suffix(float x) { return simt::square_root(x, mode); }                                   \
  inline float __fmaf_##suffix(float a, float b, float c) { return simt::multiply_add(a, b, c, mode); }           \
  inline double __fma_##suffix(double a, double b, double c) { return simt::multiply_add(a, b, c, mode); }        \
  inline double __dadd_##suffix(double a, double b) { return simt::add(a, b, mode); }                             \
  inline double __dsub_##suffix(double a, double b) { return simt::subtract(a, b, mode); }                        \
  inline double __dmul_##suffix(double a, double b) { return simt::multiply(a, b, mode); }                        \
  inline double __ddiv_##suffix(double a, double b) { return simt::divide(a, b, mode); }                          \
  inline double __drcp_##suffix(double x) { return simt::divide(1.0, x, mode); }                                  \
  inline double __dsqrt_##suffix(double x) { return simt::square_root(x, mode); }                                 \
  inline float __double2float_##suffix(double x) { return simt::round_to<float>(x, mode); }                       \
  inline float __int2float_##suffix(int x) { return simt::round_to<float, double>(x, mode); }                     \
  inline float __uint2float_##suffix(unsigned x) { return simt::round_to<float, double>(x, mode); }               \
  inline float __ll2float_##suffix(long long x) { return simt::round_to<float, long double>(x, mode); }           \
  inline float __ull2float_##suffix(unsigned long long x) { return simt::round_to<float, long double>(x, mode); } \
  inline double __ll2double_##suffix(long long x) { return simt::round_to<double, long double>(x, mode); }        \
  inline double __ull2double_##suffix(unsigned long long x) { return simt::round_to<double, long double>(x, mode); }
SIMT_ROUNDED(rz, simt::Rounding::to_zero)
SIMT_ROUNDED(ru, simt::Rounding::up)
SIMT_ROUNDED(rd, simt::Rounding::down)
#undef SIMT_ROUNDED

// Operations that name the usual rounding, to nearest.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
