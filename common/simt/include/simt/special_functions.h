// Device math that the C library does not have: norms, inverse error functions, Bessel functions of the first kind I.
#pragma once

#include <cmath>
#include <limits>

inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline double norm4d(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
inline double norm(int count, const double* x) {
  double result = 0;
  for (int i = 0; i < count; i++) result = std::hypot(result, x[i]);
  return result;
}
inline float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
inline float norm4df(float a, float b, float c, float d) { return static_cast<float>(norm4d(a, b, c, d)); }
inline float normf(int count, const float* x) {
  double squares = 0;
  for (int i = 0; i < count; i++) squares += static_cast<double>(x[i]) * x[i];
  return static_cast<float>(std::sqrt(squares));
}
inline double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline float rhypotf(float a, float b) { return static_cast<float>(rhypot(a, b)); }
inline float rnorm3df(float a, float b, float c) { return static_cast<float>(rnorm3d(a, b, c)); }
inline float rnorm4df(float a, float b, float c, float d) { return static_cast<float>(rnorm4d(a, b, c, d)); }

// exp(x^2) erfc(x). For large x, where the factors leave the range of double, by the continued fraction.
inline double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  double tail = x;
  for (int k = 30; k > 0; k--) tail = x + 0.5 * k / tail;
  return 0.56418958354775628695 / tail;
}
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }

// The x with erfc(x) = y, 0 <= y <= 2, by Newton's method from a bound of the tail; for y > 1 by symmetry.
inline double erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (y > 1) return -erfcinv(2 - y);
  if (y == 0) return std::numeric_limits<double>::infinity();
  double x = y > 0.1 ? 0 : std::sqrt(-std::log(y * 1.7724538509055160273 * std::sqrt(-std::log(y))));
  for (int step = 0; step < 60; step++) {
    const double change = (std::erfc(x) - y) * 0.88622692545275801365 * std::exp(x * x);
    x += change;
    if (std::fabs(change) <= 1e-16 * std::fabs(x)) break;
  }
  return x;
}

// The x with erf(x) = y, -1 <= y <= 1.
inline double erfinv(double y) {
  if (std::fabs(y) > 0.5) return y > 0 ? erfcinv(1 - y) : -erfcinv(1 + y);
  double x = 0.88622692545275801365 * y;
  for (int step = 0; step < 20; step++) x -= (std::erf(x) - y) * 0.88622692545275801365 * std::exp(x * x);
  return x;
}
inline double normcdfinv(double y) { return -1.4142135623730950488 * erfcinv(2 * y); }
inline float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
inline float erfcinvf(float y) { return static_cast<float>(erfcinv(y)); }
inline float normcdfinvf(float y) { return static_cast<float>(normcdfinv(y)); }

inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
inline double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }
inline float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i0(x)); }
inline float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i1(x)); }
