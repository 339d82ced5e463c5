// Which types a CUDA function takes. CUDA has an overload for each of them; here one template stands for all, and a
// second one, which is "unavailable", for every other type: so the compiler says at the line of the call what the
// function takes.
#pragma once

#include <type_traits>

#include "../vector_types.h"

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

namespace simt {

template <typename T>
struct Identity {
  using type = T;
};
// Keeps an argument out of template deduction: atomicAdd(&an_unsigned, 1) is legal CUDA.
template <typename T>
using Same = typename Identity<T>::type;

template <typename T, typename... Types>
constexpr bool is_one_of = (std::is_same<T, Types>::value || ...);

template <bool condition>
using If = std::enable_if_t<condition, int>;

template <typename T>
constexpr bool is_sixteen_bits_wide = is_one_of<T, __half, __half2, __nv_bfloat16, __nv_bfloat162>;

// The arguments that an overload for int, float, or another number accepts by the usual promotions.
template <typename T>
constexpr bool is_number = (std::is_arithmetic<T>::value && !std::is_same<T, long double>::value) ||
                           (std::is_enum<T>::value && std::is_convertible<T, int>::value);

template <typename T>
constexpr bool is_shuffled = is_number<T> || is_sixteen_bits_wide<T>;

// What a load or a store with a cache hint moves: at most 16 bytes at once.
template <typename T>
constexpr bool is_moved =
    is_sixteen_bits_wide<T> ||
    is_one_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long,
              unsigned long long, float, double, char2, char4, uchar2, uchar4, short2, short4, ushort2, ushort4, int2,
              int4, uint2, uint4, longlong2, ulonglong2, float2, float4, double2>;

}  // namespace simt

#define SIMT_UNAVAILABLE(words) __attribute__((unavailable(words)))
