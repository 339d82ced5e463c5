// Atomic functions on global and shared memory, for the types that CUDA has them for.
#pragma once

#include <cstring>
#include <type_traits>

namespace simt {

// Atomics on global memory happen in the order of the blocks: a block waits here, once, until all blocks before it are
// done. So sums of floats and "who came last" do not depend on the number of cores. In an instrumented build it also
// reports the access.
void before_atomic(const void* address, unsigned bytes) noexcept;

template <typename T>
struct Identity {
  using type = T;
};
// Keeps the second argument out of template deduction: atomicAdd(&an_unsigned, 1) is legal CUDA.
template <typename T>
using Same = typename Identity<T>::type;

template <size_t size>
using Word = std::conditional_t<size == 2, uint16_t, std::conditional_t<size == 4, uint32_t, uint64_t>>;

template <typename T>
Word<sizeof(T)> word_of(T value) {
  Word<sizeof(T)> word;
  std::memcpy(&word, static_cast<const void*>(&value), sizeof(T));
  return word;
}

// Replaces *address by update(*address); returns the old value.
template <typename T, typename Update>
__forceinline__ T atomic_update(T* address, Update update) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "CUDA has no atomics of this size");
  using Bits = Word<sizeof(T)>;
  before_atomic(address, sizeof(T));
  auto* word = reinterpret_cast<Bits*>(address);
  Bits old_bits = __atomic_load_n(word, __ATOMIC_SEQ_CST), new_bits;
  T old_value;
  do {
    std::memcpy(static_cast<void*>(&old_value), &old_bits, sizeof(T));
    const T new_value = update(old_value);
    std::memcpy(&new_bits, static_cast<const void*>(&new_value), sizeof(T));
  } while (!__atomic_compare_exchange_n(word, &old_bits, new_bits, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old_value;
}

template <typename T>
constexpr bool is_atomic_integer =
    std::is_same<T, int>::value || std::is_same<T, unsigned>::value || std::is_same<T, unsigned long long>::value;

}  // namespace simt

// Any type with a + of 2, 4 or 8 bytes: int, unsigned, unsigned long long, float, double, half, half2, bfloat16.
template <typename T>
__forceinline__ T atomicAdd(T* address, simt::Same<T> value) {
  static_assert(!std::is_integral<T>::value || simt::is_atomic_integer<T>,
                "CUDA's atomicAdd takes int, unsigned, unsigned long long, float, double, half, half2 and bfloat16");
  return simt::atomic_update(address, [&](T old) { return static_cast<T>(old + value); });
}

template <typename T>
__forceinline__ T atomicExch(T* address, simt::Same<T> value) {
  static_assert(sizeof(T) >= 4, "CUDA's atomicExch takes 4 and 8 bytes");
  return simt::atomic_update(address, [&](T) { return value; });
}

// A failed exchange lets the other threads run: it is how spin locks wait.
template <typename T>
T atomicCAS(T* address, simt::Same<T> expected, simt::Same<T> value);

#define SIMT_INTEGER_ATOMIC(name, expression)                                                             \
  template <typename T>                                                                                   \
  __forceinline__ T name(T* address, simt::Same<T> value) {                                               \
    static_assert(std::is_integral<T>::value && sizeof(T) >= 4, #name " takes integers of 4 or 8 bytes"); \
    return simt::atomic_update(address, [&](T old) -> T { return expression; });                          \
  }
SIMT_INTEGER_ATOMIC(atomicSub, old - value)
SIMT_INTEGER_ATOMIC(atomicMin, old < value ? old : value)
SIMT_INTEGER_ATOMIC(atomicMax, old > value ? old : value)
SIMT_INTEGER_ATOMIC(atomicAnd, old& value)
SIMT_INTEGER_ATOMIC(atomicOr, old | value)
SIMT_INTEGER_ATOMIC(atomicXor, old ^ value)
SIMT_INTEGER_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
SIMT_INTEGER_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef SIMT_INTEGER_ATOMIC

namespace simt {
void yield() noexcept;
}

template <typename T>
__forceinline__ T atomicCAS(T* address, simt::Same<T> expected, simt::Same<T> value) {
  const simt::Word<sizeof(T)> wanted = simt::word_of(expected);
  const T old =
      simt::atomic_update(address, [&](T current) { return simt::word_of(current) == wanted ? value : current; });
  if (simt::word_of(old) != wanted) simt::yield();
  return old;
}

// Scopes: every scope is the whole device here.
#define SIMT_SCOPED(name)                                            \
  template <typename T>                                              \
  __forceinline__ T name##_block(T* address, simt::Same<T> value) {  \
    return name(address, value);                                     \
  }                                                                  \
  template <typename T>                                              \
  __forceinline__ T name##_system(T* address, simt::Same<T> value) { \
    return name(address, value);                                     \
  }
SIMT_SCOPED(atomicAdd)
SIMT_SCOPED(atomicSub)
SIMT_SCOPED(atomicXor)
SIMT_SCOPED(atomicInc)
SIMT_SCOPED(atomicDec)
SIMT_SCOPED(atomicExch)
SIMT_SCOPED(atomicMin)
SIMT_SCOPED(atomicMax)
SIMT_SCOPED(atomicAnd)
SIMT_SCOPED(atomicOr)
#undef SIMT_SCOPED
template <typename T>
__forceinline__ T atomicCAS_block(T* address, simt::Same<T> expected, simt::Same<T> value) {
  return atomicCAS(address, expected, value);
}
template <typename T>
__forceinline__ T atomicCAS_system(T* address, simt::Same<T> expected, simt::Same<T> value) {
  return atomicCAS(address, expected, value);
}
