// CUDA's bfloat16 and its pair on the CPU. The types and their functions are those of half too: see simt/half_*.
#pragma once
#define __CUDA_BF16_H__  // which other headers test

#include <cuda_fp16.h>

#define SIMT_HALF __nv_bfloat16
#define SIMT_HALF2 __nv_bfloat162
#define SIMT_HALF_RAW __nv_bfloat16_raw
#define SIMT_HALF2_RAW __nv_bfloat162_raw
#define SIMT_OTHER_HALF __half
#define SIMT_FORMAT Bf16
#define SIMT_NAME(before, after) before##bfloat16##after

#include "simt/half_type.inc"

#include "simt/half_conversions.inc"

#include "simt/half_arithmetic.inc"

#undef SIMT_HALF
#undef SIMT_HALF2
#undef SIMT_HALF_RAW
#undef SIMT_HALF2_RAW
#undef SIMT_OTHER_HALF
#undef SIMT_FORMAT
#undef SIMT_NAME

__forceinline__ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }

__forceinline__ __half::__half(__nv_bfloat16 other) : __half(float(other)) {}
__forceinline__ __nv_bfloat16::__nv_bfloat16(__half other) : __nv_bfloat16(float(other)) {}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7F80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7FFF)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7F7F)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3F80)
