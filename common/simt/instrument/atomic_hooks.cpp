// The atomic operations of a kernel from an instrumented build. They only do what they say: simt/atomics.h reports an
// atomic once, before it begins, however many of these it takes.
#include <cstdint>

#define SIMT_ATOMIC(bits, type)                                                                                 \
  type __tsan_atomic##bits##_load(const volatile type* a, int) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile type* a, type v, int) { __atomic_store_n(a, v, __ATOMIC_SEQ_CST); } \
  type __tsan_atomic##bits##_exchange(volatile type* a, type v, int) {                                          \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_add(volatile type* a, type v, int) {                                         \
    return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_sub(volatile type* a, type v, int) {                                         \
    return __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_and(volatile type* a, type v, int) {                                         \
    return __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_or(volatile type* a, type v, int) {                                          \
    return __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_xor(volatile type* a, type v, int) {                                         \
    return __atomic_fetch_xor(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_nand(volatile type* a, type v, int) {                                        \
    return __atomic_fetch_nand(a, v, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* a, type* expected, type v, int, int) {       \
    return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
  }                                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* a, type* expected, type v, int, int) {         \
    return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
  }                                                                                                             \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* a, type expected, type v, int, int) {          \
    __atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
    return expected;                                                                                            \
  }

extern "C" {

// clang-format off
SIMT_ATOMIC(8, uint8_t)
SIMT_ATOMIC(16, uint16_t)
SIMT_ATOMIC(32, uint32_t)
SIMT_ATOMIC(64, uint64_t)
// clang-format on

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // extern "C"
