// Arithmetic on CUDA's vector types, as the header of this name in CUDA's samples has it.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

using uint = unsigned int;
using ushort = unsigned short;

#define SIMT_HD inline __host__ __device__

// --- operators: of two vectors, of a vector and a number, with and without assignment --------------------------------

#define SIMT_OPERATOR2(op, V, S)                                               \
  SIMT_HD V operator op(V a, V b) { return make_##V(a.x op b.x, a.y op b.y); } \
  SIMT_HD V operator op(V a, S b) { return make_##V(a.x op b, a.y op b); }     \
  SIMT_HD V operator op(S a, V b) { return make_##V(a op b.x, a op b.y); }     \
  SIMT_HD void operator op##=(V& a, V b) { a = a op b; }                       \
  SIMT_HD void operator op##=(V& a, S b) { a = a op b; }
#define SIMT_OPERATOR3(op, V, S)                                                           \
  SIMT_HD V operator op(V a, V b) { return make_##V(a.x op b.x, a.y op b.y, a.z op b.z); } \
  SIMT_HD V operator op(V a, S b) { return make_##V(a.x op b, a.y op b, a.z op b); }       \
  SIMT_HD V operator op(S a, V b) { return make_##V(a op b.x, a op b.y, a op b.z); }       \
  SIMT_HD void operator op##=(V& a, V b) { a = a op b; }                                   \
  SIMT_HD void operator op##=(V& a, S b) { a = a op b; }
#define SIMT_OPERATOR4(op, V, S)                                                                       \
  SIMT_HD V operator op(V a, V b) { return make_##V(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w); } \
  SIMT_HD V operator op(V a, S b) { return make_##V(a.x op b, a.y op b, a.z op b, a.w op b); }         \
  SIMT_HD V operator op(S a, V b) { return make_##V(a op b.x, a op b.y, a op b.z, a op b.w); }         \
  SIMT_HD void operator op##=(V& a, V b) { a = a op b; }                                               \
  SIMT_HD void operator op##=(V& a, S b) { a = a op b; }
SIMT_OPERATOR2(+, float2, float)
SIMT_OPERATOR3(+, float3, float)
SIMT_OPERATOR4(+, float4, float)
SIMT_OPERATOR2(+, int2, int)
SIMT_OPERATOR3(+, int3, int)
SIMT_OPERATOR4(+, int4, int)
SIMT_OPERATOR2(+, uint2, uint)
SIMT_OPERATOR3(+, uint3, uint)
SIMT_OPERATOR4(+, uint4, uint)
SIMT_OPERATOR2(-, float2, float)
SIMT_OPERATOR3(-, float3, float)
SIMT_OPERATOR4(-, float4, float)
SIMT_OPERATOR2(-, int2, int)
SIMT_OPERATOR3(-, int3, int)
SIMT_OPERATOR4(-, int4, int)
SIMT_OPERATOR2(-, uint2, uint)
SIMT_OPERATOR3(-, uint3, uint)
SIMT_OPERATOR4(-, uint4, uint)
SIMT_OPERATOR2(*, float2, float)
SIMT_OPERATOR3(*, float3, float)
SIMT_OPERATOR4(*, float4, float)
SIMT_OPERATOR2(*, int2, int)
SIMT_OPERATOR3(*, int3, int)
SIMT_OPERATOR4(*, int4, int)
SIMT_OPERATOR2(*, uint2, uint)
SIMT_OPERATOR3(*, uint3, uint)
SIMT_OPERATOR4(*, uint4, uint)
SIMT_OPERATOR2(/, float2, float)
SIMT_OPERATOR3(/, float3, float)
SIMT_OPERATOR4(/, float4, float)
#undef SIMT_OPERATOR2
#undef SIMT_OPERATOR3
#undef SIMT_OPERATOR4

SIMT_HD float2 operator-(float2 a) { return make_float2(-a.x, -a.y); }
SIMT_HD float3 operator-(float3 a) { return make_float3(-a.x, -a.y, -a.z); }
SIMT_HD float4 operator-(float4 a) { return make_float4(-a.x, -a.y, -a.z, -a.w); }
SIMT_HD int2 operator-(int2 a) { return make_int2(-a.x, -a.y); }
SIMT_HD int3 operator-(int3 a) { return make_int3(-a.x, -a.y, -a.z); }
SIMT_HD int4 operator-(int4 a) { return make_int4(-a.x, -a.y, -a.z, -a.w); }

// --- conversions -----------------------------------------------------------------------------------------------------

#define SIMT_MAKE(V, S)                                                      \
  SIMT_HD V##2 make_##V##2(S s) { return make_##V##2(s, s); }                \
  SIMT_HD V##2 make_##V##2(V##3 a) { return make_##V##2(a.x, a.y); }         \
  SIMT_HD V##3 make_##V##3(S s) { return make_##V##3(s, s, s); }             \
  SIMT_HD V##3 make_##V##3(V##2 a) { return make_##V##3(a.x, a.y, 0); }      \
  SIMT_HD V##3 make_##V##3(V##2 a, S s) { return make_##V##3(a.x, a.y, s); } \
  SIMT_HD V##3 make_##V##3(V##4 a) { return make_##V##3(a.x, a.y, a.z); }    \
  SIMT_HD V##4 make_##V##4(S s) { return make_##V##4(s, s, s, s); }          \
  SIMT_HD V##4 make_##V##4(V##3 a) { return make_##V##4(a.x, a.y, a.z, 0); } \
  SIMT_HD V##4 make_##V##4(V##3 a, S w) { return make_##V##4(a.x, a.y, a.z, w); }
SIMT_MAKE(float, float)
SIMT_MAKE(int, int)
SIMT_MAKE(uint, uint)
#undef SIMT_MAKE
#define SIMT_CONVERT(V, S, W)                                                      \
  SIMT_HD V##2 make_##V##2(W##2 a) { return make_##V##2(S(a.x), S(a.y)); }         \
  SIMT_HD V##3 make_##V##3(W##3 a) { return make_##V##3(S(a.x), S(a.y), S(a.z)); } \
  SIMT_HD V##4 make_##V##4(W##4 a) { return make_##V##4(S(a.x), S(a.y), S(a.z), S(a.w)); }
SIMT_CONVERT(float, float, int)
SIMT_CONVERT(float, float, uint)
SIMT_CONVERT(int, int, uint)
SIMT_CONVERT(int, int, float)
SIMT_CONVERT(uint, uint, int)
#undef SIMT_CONVERT

// --- functions of each element ---------------------------------------------------------------------------------------

#define SIMT_UNARY(name, f)                                                     \
  SIMT_HD float2 name(float2 a) { return make_float2(f(a.x), f(a.y)); }         \
  SIMT_HD float3 name(float3 a) { return make_float3(f(a.x), f(a.y), f(a.z)); } \
  SIMT_HD float4 name(float4 a) { return make_float4(f(a.x), f(a.y), f(a.z), f(a.w)); }
#define SIMT_BINARY(name, f, V)                                                                    \
  SIMT_HD V##2 name(V##2 a, V##2 b) { return make_##V##2(f(a.x, b.x), f(a.y, b.y)); }              \
  SIMT_HD V##3 name(V##3 a, V##3 b) { return make_##V##3(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); } \
  SIMT_HD V##4 name(V##4 a, V##4 b) { return make_##V##4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)); }
SIMT_HD float fracf(float v) { return v - floorf(v); }
SIMT_UNARY(floorf, floorf)
SIMT_UNARY(fracf, fracf)
SIMT_UNARY(fabs, fabsf)
SIMT_BINARY(fminf, fminf, float)
SIMT_BINARY(fmaxf, fmaxf, float)
SIMT_BINARY(fmodf, fmodf, float)
SIMT_BINARY(min, min, int)
SIMT_BINARY(max, max, int)
SIMT_BINARY(min, min, uint)
SIMT_BINARY(max, max, uint)
#undef SIMT_UNARY
#undef SIMT_BINARY
SIMT_HD int2 abs(int2 a) { return make_int2(abs(a.x), abs(a.y)); }
SIMT_HD int3 abs(int3 a) { return make_int3(abs(a.x), abs(a.y), abs(a.z)); }
SIMT_HD int4 abs(int4 a) { return make_int4(abs(a.x), abs(a.y), abs(a.z), abs(a.w)); }

SIMT_HD float lerp(float a, float b, float t) { return a + t * (b - a); }
SIMT_HD float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
SIMT_HD int clamp(int v, int low, int high) { return max(low, min(v, high)); }
SIMT_HD uint clamp(uint v, uint low, uint high) { return max(low, min(v, high)); }
SIMT_HD float smoothstep(float a, float b, float x) {
  const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}
#define SIMT_CLAMP(V, S)                                                                                             \
  SIMT_HD V##2 clamp(V##2 v, S a, S b) { return make_##V##2(clamp(v.x, a, b), clamp(v.y, a, b)); }                   \
  SIMT_HD V##3 clamp(V##3 v, S a, S b) { return make_##V##3(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b)); } \
  SIMT_HD V##4 clamp(V##4 v, S a, S b) {                                                                             \
    return make_##V##4(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b));                      \
  }                                                                                                                  \
  SIMT_HD V##2 clamp(V##2 v, V##2 a, V##2 b) { return make_##V##2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y)); }     \
  SIMT_HD V##3 clamp(V##3 v, V##3 a, V##3 b) {                                                                       \
    return make_##V##3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));                            \
  }                                                                                                                  \
  SIMT_HD V##4 clamp(V##4 v, V##4 a, V##4 b) {                                                                       \
    return make_##V##4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z), clamp(v.w, a.w, b.w));      \
  }
SIMT_CLAMP(float, float)
SIMT_CLAMP(int, int)
SIMT_CLAMP(uint, uint)
#undef SIMT_CLAMP

// --- geometry --------------------------------------------------------------------------------------------------------

#define SIMT_DOT(V, S)                                                        \
  SIMT_HD S dot(V##2 a, V##2 b) { return a.x * b.x + a.y * b.y; }             \
  SIMT_HD S dot(V##3 a, V##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
  SIMT_HD S dot(V##4 a, V##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
SIMT_DOT(float, float)
SIMT_DOT(int, int)
SIMT_DOT(uint, uint)
#undef SIMT_DOT
#define SIMT_GEOMETRY(V)                                        \
  SIMT_HD V lerp(V a, V b, float t) { return a + t * (b - a); } \
  SIMT_HD float length(V v) { return sqrtf(dot(v, v)); }        \
  SIMT_HD V normalize(V v) { return v * rsqrtf(dot(v, v)); }    \
  SIMT_HD V smoothstep(V a, V b, V x) {                         \
    const V y = clamp((x - a) / (b - a), 0.0f, 1.0f);           \
    return y * y * (3.0f - 2.0f * y);                           \
  }
SIMT_GEOMETRY(float2)
SIMT_GEOMETRY(float3)
SIMT_GEOMETRY(float4)
#undef SIMT_GEOMETRY
SIMT_HD float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
SIMT_HD float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef SIMT_HD
