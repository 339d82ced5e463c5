// CUDA's half and half2 on the CPU. The types and their functions are those of bfloat16 too: see simt/half_*.
#pragma once
#define __CUDA_FP16_H__  // which other headers test

#include <cuda_runtime.h>

#include "simt/half_bits.h"

struct __nv_bfloat16;

#define SIMT_HALF __half
#define SIMT_HALF2 __half2
#define SIMT_HALF_RAW __half_raw
#define SIMT_HALF2_RAW __half2_raw
#define SIMT_OTHER_HALF __nv_bfloat16
#define SIMT_FORMAT Fp16
#define SIMT_NAME(before, after) before##half##after

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

__forceinline__ __half2 __half2half2(__half a) { return {a, a}; }

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFF)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
