// The course's CUDA headers as clang's CUDA front end sees them: who may call what. refused.py includes this before
// anything else, in the pass that asks whether nvcc would take a file. Nothing is generated from that pass, so a
// function needs a declaration and no more; the bodies in the course's headers come along, and what clang says of them
// is left out.
#pragma once

// Of the C library's functions that are not mathematics CUDA has these in kernels. They come before the C++ library's
// headers, which give them their names in std.
extern "C" {
__attribute__((device)) int printf(const char*, ...);
__attribute__((device)) void* malloc(decltype(sizeof 0)) noexcept;
__attribute__((device)) void free(void*) noexcept;
__attribute__((device)) void* memcpy(void*, const void*, decltype(sizeof 0)) noexcept;
__attribute__((device)) void* memset(void*, int, decltype(sizeof 0)) noexcept;
__attribute__((device)) void __assert_fail(const char*, const char*, unsigned, const char*) noexcept;
__attribute__((device)) long clock() noexcept;
__attribute__((device)) int abs(int) noexcept;
__attribute__((device)) long labs(long) noexcept;
__attribute__((device)) long long llabs(long long) noexcept;
}

// What <cmath> includes and what is for the host alone; the C library's <stdlib.h> without the C++ library's.
#include <bits/stl_algobase.h>
#include <limits>
#include <type_traits>
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

// Mathematics, in the global namespace and in std, is for both. The C library has names of its own beside it, with two
// underscores: some are CUDA's intrinsics, and CUDA has none of the others (meaning.py).
#define SIMT_HIDDEN(name) simt_c_library_##name
#define __expf SIMT_HIDDEN(expf)
#define __exp10f SIMT_HIDDEN(exp10f)
#define __logf SIMT_HIDDEN(logf)
#define __log2f SIMT_HIDDEN(log2f)
#define __log10f SIMT_HIDDEN(log10f)
#define __powf SIMT_HIDDEN(powf)
#define __sinf SIMT_HIDDEN(sinf)
#define __cosf SIMT_HIDDEN(cosf)
#define __tanf SIMT_HIDDEN(tanf)
#define __tanhf SIMT_HIDDEN(tanhf)
#define __sincosf SIMT_HIDDEN(sincosf)
#define __acosf SIMT_HIDDEN(acosf)
#define __asinf SIMT_HIDDEN(asinf)
#define __atanf SIMT_HIDDEN(atanf)
#define __atan2f SIMT_HIDDEN(atan2f)
#define __cbrtf SIMT_HIDDEN(cbrtf)
#define __ceilf SIMT_HIDDEN(ceilf)
#define __coshf SIMT_HIDDEN(coshf)
#define __exp2f SIMT_HIDDEN(exp2f)
#define __expm1f SIMT_HIDDEN(expm1f)
#define __fabsf SIMT_HIDDEN(fabsf)
#define __floorf SIMT_HIDDEN(floorf)
#define __fmaxf SIMT_HIDDEN(fmaxf)
#define __fminf SIMT_HIDDEN(fminf)
#define __fmodf SIMT_HIDDEN(fmodf)
#define __hypotf SIMT_HIDDEN(hypotf)
#define __log1pf SIMT_HIDDEN(log1pf)
#define __rintf SIMT_HIDDEN(rintf)
#define __roundf SIMT_HIDDEN(roundf)
#define __sinhf SIMT_HIDDEN(sinhf)
#define __sqrtf SIMT_HIDDEN(sqrtf)
#define __truncf SIMT_HIDDEN(truncf)
#define __exp2 SIMT_HIDDEN(exp2)
#define __sqrt SIMT_HIDDEN(sqrt)
#pragma clang force_cuda_host_device begin
#include <cmath>
#pragma clang force_cuda_host_device end
#include <math.h>
#undef __expf
#undef __exp10f
#undef __logf
#undef __log2f
#undef __log10f
#undef __powf
#undef __sinf
#undef __cosf
#undef __tanf
#undef __tanhf
#undef __sincosf
#undef __acosf
#undef __asinf
#undef __atanf
#undef __atan2f
#undef __cbrtf
#undef __ceilf
#undef __coshf
#undef __exp2f
#undef __expm1f
#undef __fabsf
#undef __floorf
#undef __fmaxf
#undef __fminf
#undef __fmodf
#undef __hypotf
#undef __log1pf
#undef __rintf
#undef __roundf
#undef __sinhf
#undef __sqrtf
#undef __truncf
#undef __exp2
#undef __sqrt

// nvcc lets kernels call these two of the C++ library's functions, which only cast. (Where constexpr functions are for
// both sides, they are so already.)
#ifndef SIMT_RELAXED_CONSTEXPR
namespace std {
template <typename T>
__attribute__((device)) constexpr remove_reference_t<T>&& move(T&& value) noexcept;
template <typename T>
__attribute__((device)) constexpr T&& forward(remove_reference_t<T>& value) noexcept;
template <typename T>
__attribute__((device)) constexpr T&& forward(remove_reference_t<T>&& value) noexcept;
}  // namespace std
#endif

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <tuple>
#include <utility>

#include "../include/simt/qualifiers.h"
#undef __global__
#undef __device__
#undef __host__
#undef __managed__
#undef __shared__
#undef __constant__
#undef __launch_bounds__
#undef __cluster_dims__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __managed__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)

#pragma clang force_cuda_host_device begin
#include "../include/vector_types.h"
#include "../include/simt/argument_types.h"
#include "../include/simt/special_functions.h"
#pragma clang force_cuda_host_device end

// The built-in variables: not of a thread of the CPU's.
#pragma clang attribute push(__attribute__((device)), apply_to = any(function, variable(is_global)))
#define SIMT_WARP_SIZE_UNKNOWN
#define __thread
#define tls_model(name) unused
#include "../include/simt/builtins.h"
#undef __thread
#undef tls_model
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((device)), apply_to = function)
#include "../include/simt/atomics.h"
#include "../include/simt/bits.h"
#include "../include/simt/loads.h"
#include "../include/simt/simd_words.h"
#define __syncthreads simt_syncthreads  // clang has a builtin of that name, which host code may call
#include "../include/simt/warp.h"
#include "../include/simt/nv_atomics.h"
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((device)), apply_to = function)
#define fmaxf simt_fmaxf  // the C library's, above, are for both
#define fminf simt_fminf
#include "../include/simt/math.h"
#undef fmaxf
#undef fminf
#pragma clang attribute pop

// Those of <simt/math.h> that are for the host as well.
float rsqrtf(float);
float rcbrtf(float);
float sinpif(float);
float cospif(float);
float normcdff(float);
double rsqrt(double);
float rsqrt(float);
double rcbrt(double);
double sinpi(double);
double cospi(double);
double normcdf(double);
void sincospif(float, float*, float*);
void sincospi(double, double*, double*);
#define SIMT_MIN_MAX_HOST(T, A, B) \
  T max(A, B);                     \
  T min(A, B);
#define SIMT_MIN_MAX_HOST_INTEGERS(S, U) \
  SIMT_MIN_MAX_HOST(S, S, S) SIMT_MIN_MAX_HOST(U, U, U) SIMT_MIN_MAX_HOST(U, S, U) SIMT_MIN_MAX_HOST(U, U, S)
SIMT_MIN_MAX_HOST_INTEGERS(int, unsigned)
SIMT_MIN_MAX_HOST_INTEGERS(long, unsigned long)
SIMT_MIN_MAX_HOST_INTEGERS(long long, unsigned long long)
SIMT_MIN_MAX_HOST(float, float, float)
SIMT_MIN_MAX_HOST(double, double, double)
SIMT_MIN_MAX_HOST(double, float, double)
SIMT_MIN_MAX_HOST(double, double, float)
unsigned umax(unsigned, unsigned);
unsigned umin(unsigned, unsigned);
long long llmax(long long, long long);
long long llmin(long long, long long);
unsigned long long ullmax(unsigned long long, unsigned long long);
unsigned long long ullmin(unsigned long long, unsigned long long);

// launch() is the executor's. clang asks for this function where it sees <<<>>>.
#include "../include/simt/runtime_api.h"
extern "C" int __cudaPushCallConfiguration(dim3 grid, dim3 block = 1, size_t shared_bytes = 0, void* stream = nullptr);
extern "C" int cudaConfigureCall(dim3 grid, dim3 block = 1, size_t shared_bytes = 0, void* stream = nullptr);

#include "../include/simt/launch.h"
#include "../include/simt/launch_kernel.h"
#include "../include/simt/launch_ex.h"
#include "../include/simt/memory_3d.h"
#include "../include/simt/memory_advice.h"
#include "../include/simt/graph_conditions.h"
#include "../include/simt/graph_memory.h"
#include "../include/simt/graph_nodes.h"
#include "../include/simt/memory_pools.h"

#define SIMT_TEXTURE(name, ...)                                     \
  template <typename T>                                             \
  __attribute__((device)) T name(cudaTextureObject_t, __VA_ARGS__); \
  template <typename T>                                             \
  __attribute__((device)) void name(T*, cudaTextureObject_t, __VA_ARGS__);
SIMT_TEXTURE(tex1Dfetch, int)
SIMT_TEXTURE(tex1D, float)
SIMT_TEXTURE(tex2D, float, float)
SIMT_TEXTURE(tex3D, float, float, float)
SIMT_TEXTURE(tex1DLayered, float, int)
SIMT_TEXTURE(tex2DLayered, float, float, int)
SIMT_TEXTURE(texCubemap, float, float, float)
SIMT_TEXTURE(texCubemapLayered, float, float, float, int)
SIMT_TEXTURE(tex2Dgather, float, float, int = 0)
#undef SIMT_TEXTURE

#define SIMT_SURFACE(name, ...)                                                                   \
  template <typename T>                                                                           \
  __attribute__((device))                                                                         \
  T name##read(cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <typename T>                                                                           \
  __attribute__((device)) void name##read(T*, cudaSurfaceObject_t, __VA_ARGS__,                   \
                                          cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);        \
  template <typename T>                                                                           \
  __attribute__((device)) void name##write(T, cudaSurfaceObject_t, __VA_ARGS__,                   \
                                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
SIMT_SURFACE(surf1D, int)
SIMT_SURFACE(surf2D, int, int)
SIMT_SURFACE(surf3D, int, int, int)
SIMT_SURFACE(surf1DLayered, int, int)
SIMT_SURFACE(surf2DLayered, int, int, int)
#undef SIMT_SURFACE

#define SIMT_DECLARATIONS
#include "../include/simt/library_headers.h"
#undef SIMT_DECLARATIONS
#pragma clang attribute push(__attribute__((device)), apply_to = function)
#include "../include/cooperative_groups.h"
#include "../include/cooperative_groups/reduce.h"
#include "../include/cooperative_groups/scan.h"
#pragma clang attribute pop

#pragma clang force_cuda_host_device begin
#include "../include/cuda_fp16.h"
#include "../include/cuda_bf16.h"
#pragma clang force_cuda_host_device end

namespace simt_declarations_end {}  // namespace simt_declarations_end
