// The two 16-bit floating-point formats as bit patterns: conversion, rounding and arithmetic as on the hardware.
//
// Results are rounded once, to nearest even unless another mode is named. Subnormals are kept. A result that is NaN is
// 0x7FFF (the GPU agrees, except that it keeps some bits of a double that is NaN). The conversions have no tables,
// and branch only where the branch is nearly always the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "qualifiers.h"
#include "rounding.h"

// In an instrumented build: marks a result that is one instruction on a GPU, so that the model of a GPU's time
// (timing/) finds it in the compiler's output. The statements that compute it here count as none. The two operations of
// a pair are one instruction.
#if defined(__SANITIZE_THREAD__) && defined(__x86_64__)
#define SIMT_GPU_OPERATION(name, bits) asm("# gpu " name : "+r"(bits))
#define SIMT_GPU_OPERATION_ON_FLOAT(name, value) asm("# gpu " name : "+x"(value))
#define SIMT_GPU_PAIR() asm("# gpu pair")
#else
#define SIMT_GPU_OPERATION(name, bits) static_cast<void>(bits)
#define SIMT_GPU_OPERATION_ON_FLOAT(name, value) static_cast<void>(value)
#define SIMT_GPU_PAIR() static_cast<void>(0)
#endif

namespace simt {

__forceinline__ uint32_t float_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

__forceinline__ float float_from_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// x, one step further from zero (away) or one step nearer to it. x: finite and not zero.
__forceinline__ double step(double x, bool away) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits += away ? 1 : -1;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// double to float, rounded to odd: of the two floats around x, the one whose last bit is set. It remembers that it is
// inexact and on which side x lies, so that a second rounding to fewer bits gives what one rounding of x would give.
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.)
__forceinline__ float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const uint32_t bits = float_bits(nearest);
  const double back = nearest;
  // An even neighbour is replaced by the odd one on the other side of x. NaN stays NaN, infinity from overflow becomes
  // the largest float.
  const bool wrong = back != x && (bits & 1) == 0;
  const uint32_t other = std::fabs(back) < std::fabs(x) ? bits + 1 : bits - 1;
  return float_from_bits(wrong ? other : bits);
}

// a + b rounded to odd, in double.
__forceinline__ double add_to_odd(double a, double b) {
  const double sum = a + b;
  // The rounding error of the sum, exact (Knuth's TwoSum); NaN where the sum is not finite.
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if ((error > 0 || error < 0) && (bits & 1) == 0) return step(sum, (error > 0) == (sum > 0));
  return sum;
}

// IEEE binary16: 1 sign, 5 exponent and 10 significand bits.
struct Fp16 {
  static constexpr uint16_t infinity = 0x7C00, nan = 0x7FFF, one = 0x3C00;

  static __forceinline__ float to_float(uint16_t half) {
    constexpr uint32_t rebias = (127 - 15) << 23, infinite = 0x1F << 23;
    const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;  // the fields where a float has them
    if (magnitude > infinite) return float_from_bits(0x7FFFFFFF);
    uint32_t bits = magnitude + rebias;
    if (magnitude == infinite) bits = 0xFF << 23;
    // A subnormal is its significand times 2^-24: read it as 2^-14 * (1 + significand / 2^10) and take 2^-14 away.
    const float subnormal = float_from_bits(bits + (1 << 23)) - float_from_bits(rebias + (1 << 23));
    if (magnitude < 1 << 23) bits = float_bits(subnormal);
    return float_from_bits(bits | static_cast<uint32_t>(half & 0x8000) << 16);
  }

  static __forceinline__ uint16_t from_float(float x) {
    constexpr uint32_t rebias = (127 - 15) << 23, smallest_normal = (127 - 14) << 23, two_to_16 = (127 + 16) << 23;
    const uint32_t all = float_bits(x), magnitude = all & 0x7FFFFFFF;
    const uint32_t sign = (all ^ magnitude) >> 16;
    if (magnitude > 0x7F800000) return nan;
    if (magnitude >= two_to_16) return static_cast<uint16_t>(sign | infinity);
    // Adding 0.5, whose last bit is worth 2^-24, rounds to a multiple of the smallest subnormal.
    const uint32_t subnormal = float_bits(float_from_bits(magnitude) + 0.5f) - float_bits(0.5f);
    // Of the 23 significand bits 13 go. A carry runs on into the exponent, and from the largest half to infinity.
    const uint32_t odd = magnitude >> 13 & 1;
    const uint32_t normal = (magnitude - rebias + 0xFFF + odd) >> 13;
    // All bits set if subnormal: probabilities are often a mix of both, which no branch predictor foresees.
    const uint32_t choose = static_cast<uint32_t>(static_cast<int32_t>(magnitude - smallest_normal) >> 31);
    return static_cast<uint16_t>(sign | (subnormal & choose) | (normal & ~choose));
  }
};

// bfloat16: the upper half of a float.
struct Bf16 {
  static constexpr uint16_t infinity = 0x7F80, nan = 0x7FFF, one = 0x3F80;

  static __forceinline__ float to_float(uint16_t bits) { return float_from_bits(static_cast<uint32_t>(bits) << 16); }

  static __forceinline__ uint16_t from_float(float x) {
    const uint32_t bits = float_bits(x);
    const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
  }
};

template <typename Format>
__forceinline__ uint16_t narrow(float x) {
  return Format::from_float(x);
}

template <typename Format>
__forceinline__ uint16_t narrow(double x) {
  return Format::from_float(round_to_odd(x));
}

// The nearest value, moved one step where it lies on the wrong side of x.
template <typename Format>
__forceinline__ uint16_t narrow(float x, Rounding rounding) {
  const uint16_t nearest = Format::from_float(x);
  const float back = Format::to_float(nearest);
  const bool negative = nearest & 0x8000;
  const bool too_high = back > x, too_low = back < x;  // both false for NaN
  if (too_high && (rounding == Rounding::down || (rounding == Rounding::to_zero && !negative)))
    return static_cast<uint16_t>(negative ? nearest + 1 : nearest - 1);
  if (too_low && (rounding == Rounding::up || (rounding == Rounding::to_zero && negative)))
    return static_cast<uint16_t>(negative ? nearest - 1 : nearest + 1);
  return nearest;
}

template <typename Format, typename Integer>
__forceinline__ uint16_t from_integer(Integer value, Rounding rounding) {
  const bool negative = value < 0;
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  // Beyond 53 bits a double would round: fold the lowest bits into one, as in rounding to odd.
  if (magnitude >> 53) magnitude = (magnitude >> 12 | ((magnitude & 0xFFF) != 0)) << 12;
  const double exact = static_cast<double>(magnitude);
  return narrow<Format>(round_to_odd(negative ? -exact : exact), rounding);
}

// Out of range saturates. NaN becomes 0, or the smallest value of 64 bits.
template <typename Integer>
__forceinline__ Integer to_integer(float x) {
  using Limits = std::numeric_limits<Integer>;
  if (x != x) return sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : 0;
  if (x <= static_cast<float>(Limits::min())) return Limits::min();
  if (x >= static_cast<float>(Limits::max())) return Limits::max();
  return static_cast<Integer>(x);
}

// Sums, products, quotients and square roots need no more than this: computed in float, then narrowed. float has at
// least 2 * p + 2 bits for the p bits of either format, so that rounding twice gives what rounding once gives; where a
// bfloat16 result is subnormal in float too, operands of 8 bits cannot come close enough to a midpoint to make a
// difference.
//
// Not so the fused multiply-add, a * b + c. The product is exact in double; the sum is rounded to odd, and once more at
// the end.
template <typename Format>
__forceinline__ uint16_t fused_multiply_add(float a, float b, float c) {
  return narrow<Format>(add_to_odd(static_cast<double>(a) * b, c));
}

template <typename Format>
__forceinline__ bool is_nan(uint16_t a) {
  return (a & 0x7FFF) > Format::infinity;
}

// If one operand is NaN, the result is the other one. +0 is greater than -0.
template <typename Format>
__forceinline__ uint16_t larger(uint16_t a, uint16_t b) {
  const float x = Format::to_float(a), y = Format::to_float(b);
  if (x != x) return y != y ? Format::nan : b;
  if (x == y) return a & b;
  return y > x ? b : a;
}

template <typename Format>
__forceinline__ uint16_t smaller(uint16_t a, uint16_t b) {
  const float x = Format::to_float(a), y = Format::to_float(b);
  if (x != x) return y != y ? Format::nan : b;
  if (x == y) return a | b;
  return y < x ? b : a;
}

// Marks the result of one instruction.
__forceinline__ uint16_t one_operation(uint16_t bits) {
  SIMT_GPU_OPERATION("half", bits);
  return bits;
}
__forceinline__ uint16_t half_function(uint16_t bits) {
  SIMT_GPU_OPERATION("half_function", bits);
  return bits;
}
__forceinline__ uint16_t one_conversion(uint16_t bits) {
  SIMT_GPU_OPERATION("convert", bits);
  return bits;
}
__forceinline__ float one_conversion(float value) {
  SIMT_GPU_OPERATION_ON_FLOAT("convert", value);
  return value;
}

// The bits of a 16-bit type, and back.
template <typename T>
__forceinline__ uint16_t bits_of(T value) {
  static_assert(sizeof(T) == 2, "16-bit types");
  uint16_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <typename T>
__forceinline__ T from_bits16(uint16_t bits) {
  static_assert(sizeof(T) == 2, "16-bit types");
  T value;
  __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

}  // namespace simt
