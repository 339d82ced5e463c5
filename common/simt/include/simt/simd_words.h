// CUDA's SIMD intrinsics: a 32-bit word as two 16-bit or four 8-bit numbers (__vadd2, __vmaxu4, __vsads4, ...).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace simt {

// Applies a function to the corresponding parts of two words; T is the type of a part.
template <typename T, typename Function>
unsigned for_each_part(unsigned a, unsigned b, Function function) {
  constexpr unsigned bits = sizeof(T) * 8;
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += bits) {
    const auto part = static_cast<std::make_unsigned_t<T>>(function(static_cast<T>(a >> at), static_cast<T>(b >> at)));
    result |= static_cast<unsigned>(part) << at;
  }
  return result;
}

template <typename T>
unsigned sum_of_differences(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += sizeof(T) * 8) {
    const int x = static_cast<T>(a >> at), y = static_cast<T>(b >> at);
    sum += static_cast<unsigned>(x > y ? x - y : y - x);
  }
  return sum;
}

template <typename T>
int clamp_to(int x) {
  constexpr int low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return x < low ? low : x > high ? high : x;
}

}  // namespace simt

// x and y are the parts, widened to int.
#define SIMT_PARTS(name, T, expression)                           \
  inline unsigned name(unsigned a, unsigned b) {                  \
    return simt::for_each_part<T>(a, b, [](int x, int y) -> int { \
      (void)y;                                                    \
      return expression;                                          \
    });                                                           \
  }
#define SIMT_ONE_OPERAND(name, T, expression)                                          \
  inline unsigned name(unsigned a) {                                                   \
    return simt::for_each_part<T>(a, 0, [](int x, int) -> int { return expression; }); \
  }
// __vcmp..: sets all bits of each part for which the comparison holds; __vset..: sets the part to 1.
#define SIMT_COMPARISON(name, count, T, expression) \
  SIMT_PARTS(__vcmp##name##count, T, (expression) ? -1 : 0) SIMT_PARTS(__vset##name##count, T, (expression) ? 1 : 0)

#define SIMT_SIMD(n, S, U)                                                                         \
  SIMT_PARTS(__vadd##n, U, x + y)                                                                  \
  SIMT_PARTS(__vaddss##n, S, simt::clamp_to<S>(x + y))                                             \
  SIMT_PARTS(__vaddus##n, U, simt::clamp_to<U>(x + y))                                             \
  SIMT_PARTS(__vsub##n, U, x - y)                                                                  \
  SIMT_PARTS(__vsubss##n, S, simt::clamp_to<S>(x - y))                                             \
  SIMT_PARTS(__vsubus##n, U, simt::clamp_to<U>(x - y))                                             \
  SIMT_PARTS(__vabsdiffs##n, S, x > y ? x - y : y - x)                                             \
  SIMT_PARTS(__vabsdiffu##n, U, x > y ? x - y : y - x)                                             \
  SIMT_PARTS(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1)                                           \
  SIMT_PARTS(__vavgu##n, U, (x + y + 1) >> 1)                                                      \
  SIMT_PARTS(__vhaddu##n, U, (x + y) >> 1)                                                         \
  SIMT_PARTS(__vmaxs##n, S, x > y ? x : y)                                                         \
  SIMT_PARTS(__vmaxu##n, U, x > y ? x : y)                                                         \
  SIMT_PARTS(__vmins##n, S, x < y ? x : y)                                                         \
  SIMT_PARTS(__vminu##n, U, x < y ? x : y)                                                         \
  SIMT_ONE_OPERAND(__vabs##n, S, x < 0 ? -x : x)                                                   \
  SIMT_ONE_OPERAND(__vabsss##n, S, simt::clamp_to<S>(x < 0 ? -x : x))                              \
  SIMT_ONE_OPERAND(__vneg##n, S, -x)                                                               \
  SIMT_ONE_OPERAND(__vnegss##n, S, simt::clamp_to<S>(-x))                                          \
  SIMT_COMPARISON(eq, n, U, x == y)                                                                \
  SIMT_COMPARISON(ne, n, U, x != y)                                                                \
  SIMT_COMPARISON(ges, n, S, x >= y)                                                               \
  SIMT_COMPARISON(geu, n, U, x >= y)                                                               \
  SIMT_COMPARISON(gts, n, S, x > y)                                                                \
  SIMT_COMPARISON(gtu, n, U, x > y)                                                                \
  SIMT_COMPARISON(les, n, S, x <= y)                                                               \
  SIMT_COMPARISON(leu, n, U, x <= y)                                                               \
  SIMT_COMPARISON(lts, n, S, x < y)                                                                \
  SIMT_COMPARISON(ltu, n, U, x < y)                                                                \
  inline unsigned __vsads##n(unsigned a, unsigned b) { return simt::sum_of_differences<S>(a, b); } \
  inline unsigned __vsadu##n(unsigned a, unsigned b) { return simt::sum_of_differences<U>(a, b); }
SIMT_SIMD(2, int16_t, uint16_t)
SIMT_SIMD(4, int8_t, uint8_t)
#undef SIMT_SIMD
#undef SIMT_COMPARISON
#undef SIMT_ONE_OPERAND
#undef SIMT_PARTS
