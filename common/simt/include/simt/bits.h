// Integer and bit intrinsics, and conversions that name their rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "bit_order.h"

namespace simt {

template <typename To, typename From>
To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Conversion to an integer as on the hardware: out of range saturates, NaN is 0 (for 64 bits, the smallest).
template <typename To, typename From>
To saturate(From value) {
  constexpr To lowest = static_cast<To>(1) << (sizeof(To) * 8 - 1);
  constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
  constexpr To smallest = is_signed ? lowest : 0;
  constexpr To largest = static_cast<To>(~smallest);
  if (value != value) return sizeof(To) == 8 ? lowest : 0;
  if (value >= std::ldexp(static_cast<From>(1), sizeof(To) * 8 - is_signed)) return largest;
  if (value <= static_cast<From>(smallest)) return smallest;
  return static_cast<To>(value);
}

}  // namespace simt

inline int __float_as_int(float x) { return simt::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return simt::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return simt::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return simt::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return simt::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return simt::bit_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(simt::bit_cast<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(simt::bit_cast<uint64_t>(x)); }
inline double __hiloint2double(int hi, int lo) {
  return simt::bit_cast<double>(static_cast<uint64_t>(static_cast<unsigned>(hi)) << 32 | static_cast<unsigned>(lo));
}

#define SIMT_TO_INTEGER(from_name, from, to_name, to)                                                \
  inline to __##from_name##2##to_name##_rn(from x) { return simt::saturate<to>(std::nearbyint(x)); } \
  inline to __##from_name##2##to_name##_rz(from x) { return simt::saturate<to>(std::trunc(x)); }     \
  inline to __##from_name##2##to_name##_ru(from x) { return simt::saturate<to>(std::ceil(x)); }      \
  inline to __##from_name##2##to_name##_rd(from x) { return simt::saturate<to>(std::floor(x)); }
SIMT_TO_INTEGER(float, float, int, int)
SIMT_TO_INTEGER(float, float, uint, unsigned)
SIMT_TO_INTEGER(float, float, ll, long long)
SIMT_TO_INTEGER(float, float, ull, unsigned long long)
SIMT_TO_INTEGER(double, double, int, int)
SIMT_TO_INTEGER(double, double, uint, unsigned)
SIMT_TO_INTEGER(double, double, ll, long long)
SIMT_TO_INTEGER(double, double, ull, unsigned long long)
#undef SIMT_TO_INTEGER

inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}

// Shifts by 32 and more count as 32.
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift < 32 ? __funnelshift_l(lo, hi, shift) : lo;
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift < 32 ? __funnelshift_r(lo, hi, shift) : hi;
}

// The position of the set bit number |offset| of `mask`, counted from bit `base`: upwards for offset > 0, downwards for
// offset < 0, `base` itself for 0. 0xffffffff if there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return base < 32 && mask >> base & 1 ? base : 0xffffffffu;
  int left = offset > 0 ? offset : -offset;
  for (unsigned at = base; at<32; offset> 0 ? at++ : at--) {
    if (mask >> at & 1 && --left == 0) return at;
  }
  return 0xffffffffu;
}

// Averages without overflow, rounded down, and up.
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) { return static_cast<unsigned>(a > b ? a - b : b - a) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
