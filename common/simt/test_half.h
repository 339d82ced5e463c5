// What the tests of half and bfloat16 share: the formats by definition, exact sums, and the check of a rounded result.
//
// What a correctly rounded result is, is checked rather than computed: the exact result must lie between the midpoints
// on either side of the rounded one. "compare" below is the sign of (exact result - m) for any double m.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace half_test {

// What differs between the two types: their formats, and the names that contain the type.
struct Half {
  using T = __half;
  using T2 = __half2;
  static constexpr int significand_bits = 10, bias = 15;
  static constexpr uint16_t infinity = 0x7C00;
  static T make(uint16_t bits) { return __ushort_as_half(bits); }
  static uint16_t bits(T a) { return __half_as_ushort(a); }
  static float to_float(T a) { return __half2float(a); }
  static T rn(float x) { return __float2half_rn(x); }
  static T rz(float x) { return __float2half_rz(x); }
  static T ru(float x) { return __float2half_ru(x); }
  static T rd(float x) { return __float2half_rd(x); }
  static T from_double(double x) { return __double2half(x); }
  static T ll_rn(long long n) { return __ll2half_rn(n); }
  static T ll_rz(long long n) { return __ll2half_rz(n); }
  static T ull_rn(unsigned long long n) { return __ull2half_rn(n); }
  static T int_ru(int n) { return __int2half_ru(n); }
  static int int_rn(T a) { return __half2int_rn(a); }
  static int int_rz(T a) { return __half2int_rz(a); }
  static unsigned uint_ru(T a) { return __half2uint_ru(a); }
  static short short_rd(T a) { return __half2short_rd(a); }
  static long long ll_rz(T a) { return __half2ll_rz(a); }
  static T2 pair(T x, T y) { return __halves2half2(x, y); }
};

struct Bfloat {
  using T = __nv_bfloat16;
  using T2 = __nv_bfloat162;
  static constexpr int significand_bits = 7, bias = 127;
  static constexpr uint16_t infinity = 0x7F80;
  static T make(uint16_t bits) { return __ushort_as_bfloat16(bits); }
  static uint16_t bits(T a) { return __bfloat16_as_ushort(a); }
  static float to_float(T a) { return __bfloat162float(a); }
  static T rn(float x) { return __float2bfloat16_rn(x); }
  static T rz(float x) { return __float2bfloat16_rz(x); }
  static T ru(float x) { return __float2bfloat16_ru(x); }
  static T rd(float x) { return __float2bfloat16_rd(x); }
  static T from_double(double x) { return __double2bfloat16(x); }
  static T ll_rn(long long n) { return __ll2bfloat16_rn(n); }
  static T ll_rz(long long n) { return __ll2bfloat16_rz(n); }
  static T ull_rn(unsigned long long n) { return __ull2bfloat16_rn(n); }
  static T int_ru(int n) { return __int2bfloat16_ru(n); }
  static int int_rn(T a) { return __bfloat162int_rn(a); }
  static int int_rz(T a) { return __bfloat162int_rz(a); }
  static unsigned uint_ru(T a) { return __bfloat162uint_ru(a); }
  static short short_rd(T a) { return __bfloat162short_rd(a); }
  static long long ll_rz(T a) { return __bfloat162ll_rz(a); }
  static T2 pair(T x, T y) { return __halves2bfloat162(x, y); }
};

constexpr uint16_t canonical_nan = 0x7FFF, sign_bit = 0x8000;

template <typename F>
bool is_nan(uint32_t bits) {
  return (bits & 0x7FFF) > F::infinity;
}

// By the definition of the format. Infinity counts as the number that would follow the largest one.
template <typename F>
double value_of(uint32_t bits) {
  const int exponent = static_cast<int>(bits & 0x7FFF) >> F::significand_bits;
  const int significand = static_cast<int>(bits & ((1u << F::significand_bits) - 1));
  const int one = exponent ? 1 << F::significand_bits : 0;
  const double magnitude = std::ldexp(one + significand, (exponent ? exponent : 1) - F::bias - F::significand_bits);
  return bits & sign_bit ? -magnitude : magnitude;
}

// The same with infinities as they are: what arithmetic in double needs.
template <typename F>
double double_of(uint32_t bits) {
  if (is_nan<F>(bits)) return std::numeric_limits<double>::quiet_NaN();
  if ((bits & 0x7FFF) == F::infinity) return bits & sign_bit ? -HUGE_VAL : HUGE_VAL;
  return value_of<F>(bits);
}

inline int sign(double x) { return (x > 0) - (x < 0); }

// Is `result` the nearest value, ties to even? The sign of an exact zero is the caller's to check.
template <typename F, typename Compare>
bool is_nearest(uint32_t result, Compare compare) {
  const int side = compare(0.0);
  const uint32_t magnitude = result & 0x7FFF;
  if (side == 0) return magnitude == 0;
  if (magnitude > F::infinity || (side < 0) != ((result & sign_bit) != 0)) return false;
  const double here = value_of<F>(magnitude);
  const bool even = magnitude % 2 == 0;
  if (magnitude < F::infinity) {
    const int above = side * compare(side * (here + value_of<F>(magnitude + 1)) / 2);
    if (above > 0 || (above == 0 && !even)) return false;
  }
  if (magnitude > 0) {
    const int below = side * compare(side * (here + value_of<F>(magnitude - 1)) / 2);
    if (below < 0 || (below == 0 && !even)) return false;
  }
  return true;
}

// Is `result` the last value that does not pass x on the way towards `direction` (-1 down, +1 up, 0 zero)?
template <typename F, typename Compare>
bool is_directed(uint32_t result, int direction, Compare compare) {
  const int side = compare(0.0);
  const uint32_t magnitude = result & 0x7FFF;
  if (side == 0) return magnitude == 0;
  if (magnitude > F::infinity || (side < 0) != ((result & sign_bit) != 0)) return false;
  const bool outwards = direction == side;
  if (outwards) {
    const bool reaches = magnitude == F::infinity || side * compare(side * value_of<F>(magnitude)) <= 0;
    return reaches && magnitude > 0 && side * compare(side * value_of<F>(magnitude - 1)) > 0;
  }
  // Everything beyond the largest number stays there.
  const bool last = magnitude == F::infinity - 1 || side * compare(side * value_of<F>(magnitude + 1)) < 0;
  return magnitude < F::infinity && side * compare(side * value_of<F>(magnitude)) >= 0 && last;
}

// A sum of doubles, exact: fixed point from 2^-320 to 2^320.
class Exact {
 public:
  Exact& add(double x) {
    int exponent;
    const auto significand = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    const int position = exponent - 53 + 320;
    __extension__ using Wide = __int128;
    const Wide shifted = static_cast<Wide>(significand) * (Wide{1} << position % 32);
    digits_[position / 32] += static_cast<uint32_t>(shifted);
    digits_[position / 32 + 1] += static_cast<uint32_t>(shifted >> 32);
    digits_[position / 32 + 2] += static_cast<int64_t>(shifted >> 64);
    return *this;
  }
  int sign() const {
    int64_t carry = 0;
    bool rest = false;
    for (int64_t digit : digits_) {
      carry += digit;
      rest |= (carry & 0xFFFFFFFF) != 0;
      carry >>= 32;
    }
    return carry < 0 ? -1 : rest || carry > 0;
  }

 private:
  std::array<int64_t, 24> digits_{};  // of 32 bits each, lowest first; not yet carried
};

// Counts mismatches and keeps the first few for the message; a CHECK per value would take minutes.
class Mismatches {
 public:
  void add(const char* what, uint16_t result, double a, double b = 0, double c = 0) {
    char line[160];
    std::snprintf(line, sizeof line, "%s of %.17g, %.17g, %.17g: got 0x%04X\n", what, a, b, c, result);
    if (count_++ < 5) text_ += line;
  }
  int count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  int count_ = 0;
  std::string text_;
};

#define CHECK_NONE(mismatches) \
  INFO((mismatches).text());   \
  CHECK((mismatches).count() == 0)

// A result of arithmetic: NaN and zero must be those of double, anything else the nearest value.
template <typename F, typename Compare>
void check_result(Mismatches& wrong, const char* what, uint16_t result, double approximate, Compare compare, double a,
                  double b = 0, double c = 0) {
  bool good;
  if (std::isnan(approximate)) {
    good = result == canonical_nan;
  } else if (std::isinf(approximate)) {
    good = result == (F::infinity | (approximate < 0 ? sign_bit : 0));
  } else {
    const int zero = compare(0.0);
    good = zero ? is_nearest<F>(result, compare) : result == (std::signbit(approximate) ? sign_bit : 0);
  }
  if (!good) wrong.add(what, result, a, b, c);
}

}  // namespace half_test
