// CUB's sorting order of keys, as an order of unsigned words.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

struct __half;
struct __nv_bfloat16;

namespace cub {

struct NullType {};

namespace detail {

template <typename Key>
constexpr bool is_floating_key =
    std::is_floating_point<Key>::value || std::is_same<Key, __half>::value || std::is_same<Key, __nv_bfloat16>::value;

// The key as an unsigned word that sorts in ascending order; -0.0 and +0.0 are equal, as in CUB.
template <typename Key>
uint64_t radix_word(const Key& key) {
  static_assert(std::is_arithmetic<Key>::value || is_floating_key<Key>, "CUB sorts numbers");
  static_assert(sizeof(Key) <= 8, "CUB sorts keys of at most 8 bytes here");
  uint64_t word = 0;
  memcpy(&word, &key, sizeof(Key));  // little endian
  const uint64_t sign = uint64_t(1) << (sizeof(Key) * 8 - 1), all = sign | (sign - 1);
  if (is_floating_key<Key>) {
    if (word == sign) word = 0;
    return word & sign ? ~word & all : word | sign;
  }
  return std::is_signed<Key>::value ? word ^ sign : word;
}

// Bits begin_bit to end_bit - 1 of that word; their complement for a descending sort.
template <typename Key>
uint64_t radix_digits(const Key& key, int begin_bit, int end_bit, bool descending) {
  const uint64_t word = descending ? ~radix_word(key) : radix_word(key);
  const int bits = end_bit - begin_bit;
  return (word >> begin_bit) & (bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
}

}  // namespace detail
}  // namespace cub
