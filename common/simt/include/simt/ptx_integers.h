// Integer instructions of inline PTX (ptx_integers.py) that CUDA C++ has no function for, as the PTX ISA defines them.
// All arithmetic wraps.
#pragma once

#include <cstdint>
#include <type_traits>

#include "bits.h"

namespace simt {
// The running thread's carry flag, which is a borrow after a subtraction. It lasts from one asm statement to the next.
bool carry_flag() noexcept;
void set_carry_flag(bool carry) noexcept;
}  // namespace simt

namespace simt::ptx {

// Unsigned, and at least as wide as int: shorter ones would be promoted to it.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <typename T>
constexpr Wrapping<T> wrapping(T x) {
  return static_cast<Wrapping<T>>(x);
}

template <bool reads, bool sets, typename T>
T add_with_carry(T x, T y) {
  using U = Wrapping<T>;
  const U in = reads && carry_flag(), partial = U(x) + U(y), sum = partial + in;
  if (sets) set_carry_flag(partial < U(x) || sum < partial);
  return static_cast<T>(sum);
}
template <bool reads, bool sets, typename T>
T subtract_with_borrow(T x, T y) {
  using U = Wrapping<T>;
  const U in = reads && carry_flag(), partial = U(x) - U(y), difference = partial - in;
  if (sets) set_carry_flag(U(x) < U(y) || partial < in);
  return static_cast<T>(difference);
}

template <typename T>
T high_half(T x, T y) {
  if constexpr (sizeof(T) == 8)
    return std::is_signed<T>::value
               ? static_cast<T>(__mul64hi(static_cast<long long>(x), static_cast<long long>(y)))
               : static_cast<T>(__umul64hi(static_cast<unsigned long long>(x), static_cast<unsigned long long>(y)));
  else if constexpr (std::is_signed<T>::value)
    return static_cast<T>(int64_t{x} * y >> 8 * sizeof(T));
  else
    return static_cast<T>(uint64_t{x} * y >> 8 * sizeof(T));
}
// Operands that are narrower than the result are extended as their type says.
template <bool high, typename T, typename Factor>
T multiply(Factor x, Factor y) {
  if constexpr (high)
    return high_half<T>(x, y);
  else
    return static_cast<T>(wrapping<T>(static_cast<T>(x)) * wrapping<T>(static_cast<T>(y)));
}
template <bool high, typename T, typename Factor>
T multiply_add(Factor x, Factor y, T z) {
  return static_cast<T>(wrapping<T>(multiply<high, T>(x, y)) + wrapping<T>(z));
}
template <bool high, bool reads, bool sets, typename T>
T multiply_add_with_carry(T x, T y, T z) {
  return add_with_carry<reads, sets, T>(multiply<high, T>(x, y), z);
}

// The product of two 24-bit numbers has 48 bits: its low 32 bits, or its high 32 bits.
template <bool high, typename T>
T multiply24(T x, T y) {
  const int64_t product = (static_cast<int64_t>(static_cast<T>(wrapping(x) << 8)) >> 8) *
                          (static_cast<int64_t>(static_cast<T>(wrapping(y) << 8)) >> 8);
  return static_cast<T>(product >> (high ? 16 : 0));
}
template <bool high, typename T>
T multiply_add24(T x, T y, T z) {
  return static_cast<T>(wrapping(multiply24<high>(x, y)) + wrapping(z));
}

template <typename T>
T sad(T x, T y, T z) {
  return static_cast<T>(wrapping(z) + (x > y ? wrapping(x) - wrapping(y) : wrapping(y) - wrapping(x)));
}
// Division by zero is undefined; here, as on an H200, it does not trap.
template <typename T>
T divide(T x, T y) {
  if (y == 0) return static_cast<T>(~T{0});
  return y == static_cast<T>(-1) && std::is_signed<T>::value ? static_cast<T>(-wrapping(x)) : static_cast<T>(x / y);
}
template <typename T>
T remainder(T x, T y) {
  if (y == 0) return x;
  return y == static_cast<T>(-1) && std::is_signed<T>::value ? T{0} : static_cast<T>(x % y);
}
template <typename T>
T is_zero(T x) {
  return x == 0 ? 1 : 0;
}

// Products of bytes, and of halves and bytes, added to `sum`.
template <typename First, typename Second, typename T>
T dot4(uint32_t x, uint32_t y, T sum) {
  for (int i = 0; i < 32; i += 8)
    sum =
        static_cast<T>(wrapping(sum) + static_cast<uint32_t>(static_cast<First>(x >> i) * static_cast<Second>(y >> i)));
  return sum;
}
template <typename First, typename Second, typename T>
T dot2(uint32_t x, uint32_t y, T sum, int first) {
  for (int i = 0; i < 2; i++)
    sum = static_cast<T>(wrapping(sum) + static_cast<uint32_t>(static_cast<First>(x >> 16 * i) *
                                                               static_cast<Second>(y >> 8 * (first + i))));
  return sum;
}
template <typename First, typename Second, typename T>
T dot2_lo(uint32_t x, uint32_t y, T sum) {
  return dot2<First, Second>(x, y, sum, 0);
}
template <typename First, typename Second, typename T>
T dot2_hi(uint32_t x, uint32_t y, T sum) {
  return dot2<First, Second>(x, y, sum, 2);
}

// `bits` bits of x from bit `from` on; of a signed type the last one is repeated above.
template <typename T>
T bfe(T x, uint32_t from, uint32_t bits) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t width = 8 * sizeof(T);
  from &= 255, bits &= 255;
  if (bits == 0) return 0;
  const uint32_t last = from + bits - 1 < width ? from + bits - 1 : width - 1;
  const bool fill = std::is_signed<T>::value && (static_cast<U>(x) >> last & 1);
  const U ones = static_cast<U>(~U{0});
  const uint32_t taken = from >= width ? 0 : last - from + 1;
  const U value = taken == 0 ? 0 : static_cast<U>(x) >> from & (taken == width ? ones : (U{1} << taken) - 1);
  return static_cast<T>(fill && taken < width ? value | ones << taken : value);
}
// `onto` with its `bits` bits from bit `to` on replaced by the low ones of x.
template <typename T>
T bfi(T x, T onto, uint32_t to, uint32_t bits) {
  constexpr uint32_t width = 8 * sizeof(T);
  to &= 255, bits &= 255;
  if (bits == 0 || to >= width) return onto;
  const T mask = (bits >= width ? ~T{0} : (T{1} << bits) - 1) << to;
  return (onto & ~mask) | (x << to & mask);
}
// Position of the highest bit that differs from the sign; ~0 if there is none. With shift_amount, its distance from the
// top bit.
template <bool shift_amount, typename T>
uint32_t bfind(T x) {
  using U = std::make_unsigned_t<T>;
  const auto bits = static_cast<U>(std::is_signed<T>::value && x < 0 ? ~x : x);
  if (bits == 0) return ~0u;
  const auto top = static_cast<uint32_t>(63 - __builtin_clzll(bits));
  return shift_amount ? 8 * sizeof(T) - 1 - top : top;
}

// Video instructions on `lanes` parts of a word. With `accumulates` the results are added to z instead of being put
// together.
enum class Video { add, sub, absdiff, min, max, avrg };
template <Video operation, int lanes, bool accumulates, typename First, typename Second>
uint32_t video(uint32_t a, uint32_t b, uint32_t z) {
  constexpr int bits = 32 / lanes;
  const auto part = [](uint32_t word, int lane, bool is_signed) {
    const int64_t all = static_cast<int64_t>(word) >> bits * lane & ((int64_t{1} << bits) - 1);
    return is_signed && all >> (bits - 1) ? all - (int64_t{1} << bits) : all;
  };
  uint32_t result = accumulates ? z : 0;
  for (int lane = 0; lane < lanes; lane++) {
    const int64_t x = part(a, lane, std::is_signed<First>::value), y = part(b, lane, std::is_signed<Second>::value);
    const int64_t value = operation == Video::add       ? x + y
                          : operation == Video::sub     ? x - y
                          : operation == Video::absdiff ? (x > y ? x - y : y - x)
                          : operation == Video::min     ? (x < y ? x : y)
                          : operation == Video::max     ? (x > y ? x : y)
                                                        : (x + y + (x + y >= 0)) >> 1;
    if (accumulates)
      result += static_cast<uint32_t>(value);
    else
      result |= static_cast<uint32_t>(value & ((int64_t{1} << bits) - 1)) << bits * lane;
  }
  return result;
}

// The low word of a b + c, moved to the right.
template <int right, typename First, typename Second, typename Third>
uint32_t vmad(First a, Second b, Third c) {
  return static_cast<uint32_t>((static_cast<__int128>(a) * b + c) >> right);
}

}  // namespace simt::ptx
