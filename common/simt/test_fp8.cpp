// The 8-bit floating-point types: every value by the formats' definition, and roundings against the nearest value found
// by trying all. Compared once with CUDA 13.0's own header on the host, too: every 251st float, all halves and bfloat16
// in both formats with and without saturation, and the types' conversions had the same bits.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cublas_v2.h>  // brings them, as CUDA's does
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

// A number by the definition; NaN and infinity are left to the tests.
double value_of(int code, int significand, int bias) {
  const int exponent = (code & 0x7F) >> significand, fraction = code & ((1 << significand) - 1);
  const double magnitude = exponent ? std::ldexp(1 + std::ldexp(fraction, -significand), exponent - bias)
                                    : std::ldexp(fraction, 1 - bias - significand);
  return code & 0x80 ? -magnitude : magnitude;
}

struct Format {
  __nv_fp8_interpretation_t name;
  int significand, bias, most, over;  // over: the code of what is too large, unsaturated
  double value(int code) const { return value_of(code, significand, bias); }
  // The nearest; of two that are equally near, the even one. One code more than the largest stands for too large.
  int nearest(double magnitude) const {
    magnitude = std::min(magnitude, 1e6);  // far too large, but its distances are exact
    int best = 0;
    for (int code = 1; code <= most + 1; code++) {
      const double further = std::fabs(value(code) - magnitude) - std::fabs(value(best) - magnitude);
      if (further < 0 || (further == 0 && code % 2 == 0)) best = code;
    }
    return best;
  }
};
const Format formats[] = {{__NV_E4M3, 3, 7, 0x7E, 0x7F}, {__NV_E5M2, 2, 15, 0x7B, 0x7C}};

float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

TEST_CASE("every value of the 8-bit floats", "[fp8]") {
  for (int code = 0; code < 256; code++) {
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = static_cast<__nv_fp8_storage_t>(code);
    INFO(code);
    if ((code & 0x7F) == 0x7F) {
      CHECK(std::isnan(float(a)));
      CHECK(int(a) == 0);
    } else {
      CHECK(float(a) == formats[0].value(code));
      CHECK(double(a) == formats[0].value(code));
      CHECK(__half2float(__half(a)) == formats[0].value(code));
      CHECK(__bfloat162float(__nv_bfloat16(a)) == formats[0].value(code));
      CHECK(int(a) == std::trunc(formats[0].value(code)));
      CHECK(__nv_fp8_e4m3(float(a)).__x == code);
    }
    if ((code & 0x7F) > 0x7C) {
      CHECK(std::isnan(float(b)));
    } else if ((code & 0x7F) == 0x7C) {
      CHECK(float(b) == (code & 0x80 ? -INFINITY : INFINITY));
    } else {
      CHECK(float(b) == formats[1].value(code));
      CHECK(__nv_fp8_e5m2(__half(b)).__x == code);
    }
  }
  __nv_fp8_e4m3 most;
  most.__x = 0x7E;
  CHECK(static_cast<int>(static_cast<signed char>(most)) == 127);
  CHECK(static_cast<int>(static_cast<unsigned char>(__nv_fp8_e4m3(-3.0f))) == 0);
}

TEST_CASE("floats, doubles and halves are rounded to the nearest 8-bit float", "[fp8]") {
  std::mt19937 random(1);
  for (const Format& format : formats) {
    std::vector<float> inputs = {0.0f, 1e-30f, 1e30f, 3.4e38f, 1e-10f};
    for (int code = 0; code <= format.most; code++) {
      const float here = static_cast<float>(format.value(code)),
                  between = static_cast<float>((format.value(code) + format.value(code + 1)) / 2);
      for (const float x : {here, between}) {
        inputs.insert(inputs.end(), {x, std::nextafter(x, 1e9f), std::nextafter(x, 0.0f)});
      }
    }
    for (int i = 0; i < 2000; i++) inputs.push_back(std::fabs(float_of(static_cast<uint32_t>(random()) & 0x477FFFFF)));
    for (const float x : inputs) {
      const int nearest = format.nearest(x), saturated = std::min(nearest, format.most),
                as_it_is = nearest > format.most ? format.over : nearest;
      INFO(x);
      CHECK(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, format.name) == saturated);
      CHECK(__nv_cvt_float_to_fp8(-x, __NV_NOSAT, format.name) == (as_it_is | 0x80));
      // What no float holds: on the one side of x, and so of a midpoint.
      const double above = std::nextafter(static_cast<double>(x), 1e300);
      CHECK(__nv_cvt_double_to_fp8(above, __NV_SATFINITE, format.name) == std::min(format.nearest(above), format.most));
      const __half_raw half = __half_raw(__float2half(x));
      CHECK(__nv_cvt_halfraw_to_fp8(half, __NV_SATFINITE, format.name) ==
            std::min(format.nearest(__half2float(__half(half))), format.most));
    }
  }
  for (const auto format : {__NV_E4M3, __NV_E5M2}) {
    CHECK(__nv_cvt_float_to_fp8(-NAN, __NV_SATFINITE, format) == 0x7F);
    CHECK(__nv_cvt_float_to_fp8(INFINITY, __NV_SATFINITE, format) == (format == __NV_E4M3 ? 0x7E : 0x7B));
    CHECK(__nv_cvt_float_to_fp8(-INFINITY, __NV_NOSAT, format) == (format == __NV_E4M3 ? 0xFF : 0xFC));
  }
}

TEST_CASE("pairs and fours have the first in the lowest byte", "[fp8]") {
  const __nv_fp8x4_e4m3 four(make_float4(1, -2, 0.5f, 1000));
  CHECK(four.__x == 0x7E30C038);
  const float4 back(four);
  CHECK((back.x == 1 && back.y == -2 && back.z == 0.5f && back.w == 448));
  const __nv_fp8x2_e5m2 two(make_float2(1, -2));
  CHECK(two.__x == 0xC03C);
  const float2 of_two(two);
  CHECK((of_two.x == 1 && of_two.y == -2));
  CHECK(__nv_fp8x2_e5m2(__half2(two)).__x == two.__x);
  CHECK(__nv_cvt_fp8x2_to_halfraw2(two.__x, __NV_E5M2).y == 0xC000);
  static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e4m3) == 2 && sizeof(__nv_fp8x4_e4m3) == 4 &&
                    alignof(__nv_fp8x4_e4m3) == 4,
                "layout");
}
