// CUDA's short vector types: plain aggregates with CUDA's sizes and alignments, and their make_ functions.
#pragma once

#include "simt/qualifiers.h"

// A vector is read and written by one access of its size, so it must lie at a multiple of that size.
//
// An instrumented kernel sees an access where code loads or stores; a compiler that passes or returns an aggregate
// hides it, or splits it into its members. There the types copy themselves as one word.
#ifdef __SANITIZE_THREAD__
namespace simt {
template <unsigned bytes>
struct VectorWord;
template <>
struct VectorWord<2> {
  typedef unsigned short type __attribute__((may_alias));
};
template <>
struct VectorWord<4> {
  typedef unsigned int type __attribute__((may_alias));
};
template <>
struct VectorWord<8> {
  typedef unsigned long long type __attribute__((may_alias));
};
template <>
struct VectorWord<16> {
  typedef unsigned long long type __attribute__((vector_size(16), may_alias));
};
}  // namespace simt

#define SIMT_COPY_AS_WORD(name)                                                      \
  __forceinline__ name(const name& other) {                                          \
    using Word = typename simt::VectorWord<alignof(name)>::type;                     \
    static_assert(sizeof(name) % sizeof(Word) == 0, "a vector is one or two words"); \
    for (unsigned i = 0; i < sizeof(name) / sizeof(Word); i++)                       \
      reinterpret_cast<Word*>(this)[i] = reinterpret_cast<const Word*>(&other)[i];   \
  }                                                                                  \
  __forceinline__ name& operator=(const name& other) {                               \
    using Word = typename simt::VectorWord<alignof(name)>::type;                     \
    for (unsigned i = 0; i < sizeof(name) / sizeof(Word); i++)                       \
      reinterpret_cast<Word*>(this)[i] = reinterpret_cast<const Word*>(&other)[i];   \
    return *this;                                                                    \
  }
#define SIMT_VECTOR_2(T, name)                  \
  name() = default;                             \
  constexpr name(T x, T y = {}) : x(x), y(y) {} \
  SIMT_COPY_AS_WORD(name)
#define SIMT_VECTOR_4(T, name)                                                  \
  name() = default;                                                             \
  constexpr name(T x, T y = {}, T z = {}, T w = {}) : x(x), y(y), z(z), w(w) {} \
  SIMT_COPY_AS_WORD(name)
#else
#define SIMT_VECTOR_2(T, name)
#define SIMT_VECTOR_4(T, name)
#endif

#define SIMT_VECTOR_TYPES(T, name, align2, align4)                   \
  struct name##1 {                                                   \
    T x;                                                             \
  };                                                                 \
  struct __align__(align2) name##2 {                                 \
    T x, y;                                                          \
    SIMT_VECTOR_2(T, name##2)                                        \
  };                                                                 \
  struct name##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct __align__(align4) name##4 {                                 \
    T x, y, z, w;                                                    \
    SIMT_VECTOR_4(T, name##4)                                        \
  };                                                                 \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

// clang-format off
SIMT_VECTOR_TYPES(signed char, char, 2, 4)
SIMT_VECTOR_TYPES(unsigned char, uchar, 2, 4)
SIMT_VECTOR_TYPES(short, short, 4, 8)
SIMT_VECTOR_TYPES(unsigned short, ushort, 4, 8)
SIMT_VECTOR_TYPES(int, int, 8, 16)
SIMT_VECTOR_TYPES(unsigned int, uint, 8, 16)
SIMT_VECTOR_TYPES(long, long, 16, 16)
SIMT_VECTOR_TYPES(unsigned long, ulong, 16, 16)
SIMT_VECTOR_TYPES(long long, longlong, 16, 16)
SIMT_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
SIMT_VECTOR_TYPES(float, float, 8, 16)
SIMT_VECTOR_TYPES(double, double, 16, 16)
// clang-format on
#undef SIMT_VECTOR_TYPES
#undef SIMT_VECTOR_2
#undef SIMT_VECTOR_4

// Extents of a grid or a block; what is not given is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
