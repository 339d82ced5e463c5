// CUDA's 8-bit floating-point types on the CPU: E4M3 and E5M2, alone, in pairs and in fours. They are storage with
// conversions; CUDA has no arithmetic on them. E8M0, the scale of the MX formats, is not supported.
#pragma once
#define __CUDA_FP8_H__  // which other headers test

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "simt/fp8_bits.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short int __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// ---- Functions: number to bits
// ---------------------------------------------------------------------------------------

__forceinline__ __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? simt::to_fp8<simt::E4M3>(x, saturate == __NV_SATFINITE)
                             : simt::to_fp8<simt::E5M2>(x, saturate == __NV_SATFINITE);
}
__forceinline__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? simt::to_fp8<simt::E4M3>(x, saturate == __NV_SATFINITE)
                             : simt::to_fp8<simt::E5M2>(x, saturate == __NV_SATFINITE);
}
__forceinline__ __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(simt::Fp16::to_float(x.x), saturate, format);
}
__forceinline__ __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                               __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(simt::Bf16::to_float(x.x), saturate, format);
}

// Of a pair the first is in the lower byte.
#define SIMT_PAIR(name, pair, single, first, second)                                                                   \
  __forceinline__ __nv_fp8x2_storage_t name(pair x, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {    \
    return static_cast<__nv_fp8x2_storage_t>(single(second, saturate, format) << 8 | single(first, saturate, format)); \
  }
SIMT_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8, x.x, x.y)
SIMT_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8, x.x, x.y)
SIMT_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __nv_cvt_halfraw_to_fp8, __half_raw{x.x}, __half_raw{x.y})
SIMT_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_fp8, __nv_bfloat16_raw{x.x},
          __nv_bfloat16_raw{x.y})
#undef SIMT_PAIR

// ---- Functions: bits to number
// ---------------------------------------------------------------------------------------

namespace simt {

__forceinline__ float from_fp8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  float value = format == __NV_E4M3 ? E4M3::to_float(x) : E5M2::to_float(x);
  SIMT_GPU_OPERATION_ON_FLOAT("convert", value);
  return value;
}

}  // namespace simt

__forceinline__ __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return {simt::narrow<simt::Fp16>(simt::from_fp8(x, format))};
}
__forceinline__ __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xFF), format).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x};
}

// ---- Types ------------------------------------------------------------------------------------------------------

// From numbers, with saturation; from integers via float. To an integer: towards zero, saturated to its range.
#define SIMT_FROM(type, format, number, convert, as) \
  explicit __forceinline__ type(number x) : __x(convert(static_cast<as>(x), __NV_SATFINITE, format)) {}
#define SIMT_TO(number) \
  explicit __forceinline__ operator number() const { return simt::to_integer<number>(__builtin_truncf(float(*this))); }
#define SIMT_FP8(type, format)                                                                                         \
  struct type {                                                                                                        \
    __nv_fp8_storage_t __x;                                                                                            \
    type() = default;                                                                                                  \
    SIMT_FROM(type, format, double, __nv_cvt_double_to_fp8, double)                                                    \
    SIMT_FROM(type, format, float, __nv_cvt_float_to_fp8, float)                                                       \
    SIMT_FROM(type, format, __half, __nv_cvt_float_to_fp8, float)                                                      \
    SIMT_FROM(type, format, __nv_bfloat16, __nv_cvt_float_to_fp8, float)                                               \
    SIMT_FROM(type, format, short, __nv_cvt_float_to_fp8, float)                                                       \
    SIMT_FROM(type, format, unsigned short, __nv_cvt_float_to_fp8, float)                                              \
    SIMT_FROM(type, format, int, __nv_cvt_float_to_fp8, float)                                                         \
    SIMT_FROM(type, format, unsigned, __nv_cvt_float_to_fp8, float)                                                    \
    SIMT_FROM(type, format, long, __nv_cvt_float_to_fp8, float)                                                        \
    SIMT_FROM(type, format, unsigned long, __nv_cvt_float_to_fp8, float)                                               \
    SIMT_FROM(type, format, long long, __nv_cvt_float_to_fp8, float)                                                   \
    SIMT_FROM(type, format, unsigned long long, __nv_cvt_float_to_fp8, float)                                          \
    explicit __forceinline__ operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, format); }                  \
    explicit __forceinline__ operator float() const { return simt::from_fp8(__x, format); }                            \
    explicit __forceinline__ operator double() const { return float(*this); }                                          \
    explicit __forceinline__ operator __nv_bfloat16() const { return float(*this); }                                   \
    explicit __forceinline__ operator bool() const { return (__x & 0x7F) != 0; }                                       \
    SIMT_TO(char)                                                                                                      \
    SIMT_TO(signed char)                                                                                               \
    SIMT_TO(unsigned char)                                                                                             \
    SIMT_TO(short)                                                                                                     \
    SIMT_TO(unsigned short)                                                                                            \
    SIMT_TO(int) SIMT_TO(unsigned) SIMT_TO(long) SIMT_TO(unsigned long) SIMT_TO(long long) SIMT_TO(unsigned long long) \
  };

#define SIMT_FP8X2(type, format)                                                                             \
  struct __align__(2) type {                                                                                 \
    __nv_fp8x2_storage_t __x;                                                                                \
    type() = default;                                                                                        \
    explicit __forceinline__ type(double2 x) : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, format)) {}  \
    explicit __forceinline__ type(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, format)) {}    \
    explicit __forceinline__ type(__half2 x) : __x(__nv_cvt_halfraw2_to_fp8x2(x, __NV_SATFINITE, format)) {} \
    explicit __forceinline__ type(__nv_bfloat162 x)                                                          \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(x, __NV_SATFINITE, format)) {}                                  \
    explicit __forceinline__ operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, format); }    \
    explicit __forceinline__ operator float2() const {                                                       \
      return {simt::from_fp8(static_cast<__nv_fp8_storage_t>(__x & 0xFF), format),                           \
              simt::from_fp8(static_cast<__nv_fp8_storage_t>(__x >> 8), format)};                            \
    }                                                                                                        \
  };

#define SIMT_FP8X4(type, pair)                                                                                      \
  struct __align__(4) type {                                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                       \
    type() = default;                                                                                               \
    explicit __forceinline__ type(double4 x) : type(pair(double2{x.x, x.y}), pair(double2{x.z, x.w})) {}            \
    explicit __forceinline__ type(float4 x) : type(pair(float2{x.x, x.y}), pair(float2{x.z, x.w})) {}               \
    explicit __forceinline__ type(__half2 low, __half2 high) : type(pair(low), pair(high)) {}                       \
    explicit __forceinline__ type(__nv_bfloat162 low, __nv_bfloat162 high) : type(pair(low), pair(high)) {}         \
    explicit __forceinline__ operator float4() const {                                                              \
      pair low, high;                                                                                               \
      low.__x = static_cast<__nv_fp8x2_storage_t>(__x & 0xFFFF);                                                    \
      high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);                                                      \
      const float2 first(low), second(high);                                                                        \
      return {first.x, first.y, second.x, second.y};                                                                \
    }                                                                                                               \
                                                                                                                    \
   private:                                                                                                         \
    __forceinline__ type(pair low, pair high) : __x(static_cast<__nv_fp8x4_storage_t>(high.__x) << 16 | low.__x) {} \
  };

SIMT_FP8(__nv_fp8_e4m3, __NV_E4M3)
SIMT_FP8(__nv_fp8_e5m2, __NV_E5M2)
SIMT_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
SIMT_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)
SIMT_FP8X4(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3)
SIMT_FP8X4(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2)

#undef SIMT_FP8
#undef SIMT_FP8X2
#undef SIMT_FP8X4
#undef SIMT_FROM
#undef SIMT_TO
