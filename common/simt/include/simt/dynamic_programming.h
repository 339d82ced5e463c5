// CUDA's integer functions of dynamic programming: the largest or smallest of a sum and a number, of three numbers, or
// of two with which it was; _relu: at least 0. Of words, and of the two 16-bit halves of each.
#pragma once

#include "simd_words.h"

namespace simt {

inline int wrapping_add(int a, int b) { return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }
inline unsigned wrapping_add(unsigned a, unsigned b) { return a + b; }
template <typename T>
T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
// The function's result for the halves of three words, each a T.
template <typename T, typename Function>
unsigned for_each_half(unsigned a, unsigned b, unsigned c, Function function) {
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 16) {
    const T one = function(static_cast<T>(a >> at), static_cast<T>(b >> at), static_cast<T>(c >> at));
    result |= static_cast<unsigned>(static_cast<uint16_t>(one)) << at;
  }
  return result;
}

}  // namespace simt

#define SIMT_OF_WORDS(type, T)                                                                     \
  inline T __viaddmax_##type(T a, T b, T c) { return simt::larger(simt::wrapping_add(a, b), c); }  \
  inline T __viaddmin_##type(T a, T b, T c) { return simt::smaller(simt::wrapping_add(a, b), c); } \
  inline T __vimax3_##type(T a, T b, T c) { return simt::larger(simt::larger(a, b), c); }          \
  inline T __vimin3_##type(T a, T b, T c) { return simt::smaller(simt::smaller(a, b), c); }        \
  /* is_a: whether it was a; of equal ones it was. */                                              \
  inline T __vibmax_##type(T a, T b, bool* is_a) { return (*is_a = a >= b) ? a : b; }              \
  inline T __vibmin_##type(T a, T b, bool* is_a) { return (*is_a = a <= b) ? a : b; }
SIMT_OF_WORDS(s32, int)
SIMT_OF_WORDS(u32, unsigned)
#undef SIMT_OF_WORDS

inline int __viaddmax_s32_relu(int a, int b, int c) { return simt::larger(__viaddmax_s32(a, b, c), 0); }
inline int __viaddmin_s32_relu(int a, int b, int c) { return simt::larger(__viaddmin_s32(a, b, c), 0); }
inline int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
inline int __vimin_s32_relu(int a, int b) { return simt::larger(simt::smaller(a, b), 0); }
inline int __vimax3_s32_relu(int a, int b, int c) { return simt::larger(__vimax3_s32(a, b, c), 0); }
inline int __vimin3_s32_relu(int a, int b, int c) { return simt::larger(__vimin3_s32(a, b, c), 0); }

// a, b and c are halves.
#define SIMT_OF_HALVES(name, T, expression)                                                \
  inline unsigned name(unsigned x, unsigned y, unsigned z) {                               \
    return simt::for_each_half<T>(x, y, z, [](T a, T b, T c) -> T { return expression; }); \
  }
#define SIMT_OF_HALVES_EACH(type, T)                                                         \
  SIMT_OF_HALVES(__viaddmax_##type, T, simt::larger(static_cast<T>(a + b), c))               \
  SIMT_OF_HALVES(__viaddmin_##type, T, simt::smaller(static_cast<T>(a + b), c))              \
  SIMT_OF_HALVES(__vimax3_##type, T, simt::larger(simt::larger(a, b), c))                    \
  SIMT_OF_HALVES(__vimin3_##type, T, simt::smaller(simt::smaller(a, b), c))                  \
  inline unsigned __vibmax_##type(unsigned a, unsigned b, bool* high_is_a, bool* low_is_a) { \
    *high_is_a = static_cast<T>(a >> 16) >= static_cast<T>(b >> 16);                         \
    *low_is_a = static_cast<T>(a) >= static_cast<T>(b);                                      \
    return __vimax3_##type(a, b, b);                                                         \
  }                                                                                          \
  inline unsigned __vibmin_##type(unsigned a, unsigned b, bool* high_is_a, bool* low_is_a) { \
    *high_is_a = static_cast<T>(a >> 16) <= static_cast<T>(b >> 16);                         \
    *low_is_a = static_cast<T>(a) <= static_cast<T>(b);                                      \
    return __vimin3_##type(a, b, b);                                                         \
  }
SIMT_OF_HALVES_EACH(s16x2, int16_t)
SIMT_OF_HALVES_EACH(u16x2, uint16_t)
#undef SIMT_OF_HALVES_EACH
#undef SIMT_OF_HALVES

inline unsigned __viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__viaddmax_s16x2(a, b, c), 0, 0);
}
inline unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__viaddmin_s16x2(a, b, c), 0, 0);
}
inline unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(__vimin3_s16x2(a, b, b), 0, 0); }
inline unsigned __vimax3_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__vimax3_s16x2(a, b, c), 0, 0);
}
inline unsigned __vimin3_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__vimin3_s16x2(a, b, c), 0, 0);
}
