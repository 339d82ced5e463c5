// The two 8-bit floating-point formats as bit patterns: E4M3 has no infinity, one NaN and values up to 448; E5M2 is the
// upper half of a binary16. Rounded once, to nearest even. ("FP8 Formats for Deep Learning", Micikevicius et al.,
// 2022.)
#pragma once

#include <cmath>
#include <cstdint>

#include "half_bits.h"

namespace simt {

struct E4M3 {
  static constexpr int significand = 3, least = -6;              // bits; exponent of the smallest normal number
  static constexpr uint8_t most = 0x7E, nan = 0x7F, over = nan;  // over: what does not fit and is not saturated

  static __forceinline__ float to_float(uint8_t bits) {
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7F) == nan) return float_from_bits(0x7FFFFFFF);
    const float magnitude =
        exponent ? float_from_bits(static_cast<uint32_t>(exponent + 120) << 23 | static_cast<uint32_t>(fraction) << 20)
                 : static_cast<float>(fraction) / 512;
    return bits & 0x80 ? -magnitude : magnitude;
  }
};

struct E5M2 {
  static constexpr int significand = 2, least = -14;
  static constexpr uint8_t most = 0x7B, nan = 0x7F, over = 0x7C;

  static __forceinline__ float to_float(uint8_t bits) { return Fp16::to_float(static_cast<uint16_t>(bits << 8)); }
};

// saturate: values that are too large, and infinity, become the largest number. A NaN keeps its sign, and E5M2's its
// bits, only where it is a double: floats have one NaN here, as on the GPU.
template <typename Format>
__forceinline__ uint8_t to_fp8(double x, bool saturate) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const auto sign = static_cast<uint8_t>(bits >> 63 << 7);
  const double magnitude = std::fabs(x);
  if (magnitude != magnitude) {
    const uint8_t kept = Format::over == Format::nan ? Format::nan : 0x7E | (bits >> 50 & 3);
    return sign | kept;
  }
  const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7FF) - 1023, Format::least);
  int code = Format::most + 1;
  if (exponent < 20) {
    // In units of the last place a number is an integer, whose leading bit carries into the exponent.
    const uint64_t unit_bits = static_cast<uint64_t>(1023 - exponent + Format::significand) << 52;
    double per_unit;
    __builtin_memcpy(&per_unit, &unit_bits, sizeof per_unit);
    code = static_cast<int>(std::nearbyint(magnitude * per_unit)) + ((exponent - Format::least) << Format::significand);
  }
  if (code > Format::most) code = saturate ? Format::most : Format::over;
  return static_cast<uint8_t>(sign | code);
}

template <typename Format>
__forceinline__ uint8_t to_fp8(float x, bool saturate) {
  uint32_t bits = x != x ? Format::nan : to_fp8<Format>(static_cast<double>(x), saturate);
  SIMT_GPU_OPERATION("convert", bits);
  return static_cast<uint8_t>(bits);
}

}  // namespace simt
