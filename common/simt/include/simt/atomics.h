// Atomic functions on global and shared memory, for the types that CUDA has them for.
#pragma once

#include <cstring>
#include <type_traits>

#include "argument_types.h"

namespace simt {

// Atomics on global memory happen in the order of the blocks: a block waits here, once, until all blocks before it are
// done. So sums of floats and "who came last" do not depend on the number of cores. In an instrumented build it also
// reports the access.
void before_atomic(const void* address, unsigned bytes) noexcept;
void before_atomic_store(const void* address, unsigned bytes) noexcept;

template <size_t size>
using Word =
    std::conditional_t<size == 1, uint8_t,
                       std::conditional_t<size == 2, uint16_t, std::conditional_t<size == 4, uint32_t, uint64_t>>>;

template <typename T>
Word<sizeof(T)> word_of(T value) {
  Word<sizeof(T)> word;
  std::memcpy(&word, static_cast<const void*>(&value), sizeof(T));
  return word;
}

// Replaces *address by update(*address); returns the old value. chooses: it often keeps it, as a maximum does. An
// instrumented build takes other updates that change nothing for looks at what others have stored.
template <bool chooses = false, typename T, typename Update>
__forceinline__ T atomic_update(T* address, Update update) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "CUDA has no atomics of this size");
  using Bits = Word<sizeof(T)>;
  before_atomic(address, sizeof(T));
  auto* word = reinterpret_cast<Bits*>(address);
  Bits old_bits = __atomic_load_n(word, __ATOMIC_SEQ_CST), new_bits;
  T old_value;
  do {
    std::memcpy(static_cast<void*>(&old_value), &old_bits, sizeof(T));
    const T new_value = update(old_value);
    std::memcpy(&new_bits, static_cast<const void*>(&new_value), sizeof(T));
  } while (!__atomic_compare_exchange_n(word, &old_bits, new_bits, chooses, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old_value;
}

// Replaces *address without comparing it.
template <typename T>
__forceinline__ void atomic_store(T* address, T value) {
  before_atomic_store(address, sizeof(T));
  __atomic_store_n(reinterpret_cast<Word<sizeof(T)>*>(address), word_of(value), __ATOMIC_SEQ_CST);
}

void yield() noexcept;

// A failed exchange lets the other threads run: it is how spin locks wait.
template <typename T>
__forceinline__ T atomic_exchange_if(T* address, T expected, T value) {
  const Word<sizeof(T)> wanted = word_of(expected);
  const T old = atomic_update(address, [&](T current) { return word_of(current) == wanted ? value : current; });
  if (word_of(old) != wanted) yield();
  return old;
}

template <typename T>
T sum(T a, T b) {
  return static_cast<T>(a + b);
}
inline float2 sum(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }

}  // namespace simt

// SIMT_ATOMIC(name, update, words, types): sets *address to `update`, an expression of old and value, for these types.
#define SIMT_ATOMIC_NAMED(name, chooses, update, words, ...)                          \
  template <typename T, simt::If<simt::is_one_of<T, __VA_ARGS__>> = 0>                \
  __forceinline__ T name(T* address, simt::Same<T> value) {                           \
    return simt::atomic_update<chooses>(address, [&](T old) -> T { return update; }); \
  }                                                                                   \
  template <typename T, typename V, simt::If<!simt::is_one_of<T, __VA_ARGS__>> = 0>   \
  SIMT_UNAVAILABLE(words)                                                             \
  std::remove_cv_t<T> name(T* address, V value);
#define SIMT_ATOMIC_CAS_NAMED(name, words, ...)                                                 \
  template <typename T, simt::If<simt::is_one_of<T, __VA_ARGS__>> = 0>                          \
  __forceinline__ T name(T* address, simt::Same<T> expected, simt::Same<T> value) {             \
    return simt::atomic_exchange_if(address, expected, value);                                  \
  }                                                                                             \
  template <typename T, typename E, typename V, simt::If<!simt::is_one_of<T, __VA_ARGS__>> = 0> \
  SIMT_UNAVAILABLE(words)                                                                       \
  std::remove_cv_t<T> name(T* address, E expected, V value);
// Scopes: every scope is the whole device here.
#define SIMT_ATOMIC_OR_CHOICE(name, chooses, ...)       \
  SIMT_ATOMIC_NAMED(name, chooses, __VA_ARGS__)         \
  SIMT_ATOMIC_NAMED(name##_block, chooses, __VA_ARGS__) \
  SIMT_ATOMIC_NAMED(name##_system, chooses, __VA_ARGS__)
#define SIMT_ATOMIC(name, ...) SIMT_ATOMIC_OR_CHOICE(name, false, __VA_ARGS__)
#define SIMT_CHOICE(name, ...) SIMT_ATOMIC_OR_CHOICE(name, true, __VA_ARGS__)
#define SIMT_ATOMIC_CAS(name, ...)                 \
  SIMT_ATOMIC_CAS_NAMED(name, __VA_ARGS__)         \
  SIMT_ATOMIC_CAS_NAMED(name##_block, __VA_ARGS__) \
  SIMT_ATOMIC_CAS_NAMED(name##_system, __VA_ARGS__)

SIMT_ATOMIC(atomicAdd, simt::sum(old, value),
            "CUDA's atomicAdd takes int, unsigned, unsigned long long, float, double, half, half2 and bfloat16", int,
            unsigned, unsigned long long, float, double, float2, __half, __half2, __nv_bfloat16, __nv_bfloat162)
// A GPU adds to the four words one after the other, too.
inline float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
          atomicAdd(&address->w, value.w)};
}
SIMT_ATOMIC(atomicSub, old - value, "CUDA's atomicSub takes int and unsigned", int, unsigned)
SIMT_ATOMIC(atomicExch, (static_cast<void>(old), value),
            "CUDA's atomicExch takes int, unsigned, unsigned long long and float", int, unsigned, unsigned long long,
            float)
#define SIMT_WIDE_INTEGERS int, unsigned, long long, unsigned long long
SIMT_CHOICE(atomicMin, old < value ? old : value, "CUDA's atomicMin takes int, unsigned, long long, unsigned long long",
            SIMT_WIDE_INTEGERS)
SIMT_CHOICE(atomicMax, old > value ? old : value, "CUDA's atomicMax takes int, unsigned, long long, unsigned long long",
            SIMT_WIDE_INTEGERS)
SIMT_ATOMIC(atomicAnd, old& value, "CUDA's atomicAnd takes int, unsigned, long long, unsigned long long",
            SIMT_WIDE_INTEGERS)
SIMT_ATOMIC(atomicOr, old | value, "CUDA's atomicOr takes int, unsigned, long long, unsigned long long",
            SIMT_WIDE_INTEGERS)
SIMT_ATOMIC(atomicXor, old ^ value, "CUDA's atomicXor takes int, unsigned, long long, unsigned long long",
            SIMT_WIDE_INTEGERS)
SIMT_ATOMIC(atomicInc, old >= value ? 0 : old + 1, "CUDA's atomicInc takes unsigned", unsigned)
SIMT_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, "CUDA's atomicDec takes unsigned", unsigned)
SIMT_ATOMIC_CAS(atomicCAS, "CUDA's atomicCAS takes int, unsigned, unsigned long long and unsigned short", int, unsigned,
                unsigned long long, unsigned short)
#undef SIMT_WIDE_INTEGERS
#undef SIMT_ATOMIC
#undef SIMT_CHOICE
#undef SIMT_ATOMIC_OR_CHOICE
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_NAMED
#undef SIMT_ATOMIC_CAS_NAMED
