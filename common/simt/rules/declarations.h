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

// Mathematics, in the global namespace and in std, is for both. The C library has some of CUDA's intrinsics as names of
// its own.
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
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __managed__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#pragma clang force_cuda_host_device begin
#include "../include/vector_types.h"
#include "../include/simt/special_functions.h"
#pragma clang force_cuda_host_device end

// The built-in variables: not of a thread of the CPU's.
#pragma clang attribute push(__attribute__((device)), apply_to = any(function, variable(is_global)))
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
template <typename A, typename B>
__host__ constexpr std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value,
                                    std::common_type_t<A, B>>
    max(A, B);
template <typename A, typename B>
__host__ constexpr std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value,
                                    std::common_type_t<A, B>>
    min(A, B);
unsigned umax(unsigned, unsigned);
unsigned umin(unsigned, unsigned);
long long llmax(long long, long long);
long long llmin(long long, long long);
unsigned long long ullmax(unsigned long long, unsigned long long);
unsigned long long ullmin(unsigned long long, unsigned long long);

// launch() is the executor's. clang asks for this function where it sees <<<>>>.
#include "../include/simt/runtime_api.h"
extern "C" int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, void* stream = nullptr);
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, void* stream = nullptr);

#include "../include/simt/launch.h"
#include "../include/simt/launch_kernel.h"
#include "../include/simt/memory_3d.h"
#include "../include/simt/memory_pools.h"

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
