// The atomic operations of a kernel from an instrumented build. simt/atomics.h reports an atomic once, before it
// begins, however many of these it takes; one that a kernel has written in another way is reported here.
#include <cstdint>

#include "recorder.h"

namespace simt {

namespace {

template <typename T>
__attribute__((always_inline)) inline void report(const volatile T* address, AccessKind kind, uintptr_t pc) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (recording.lane && recording.atomic != at) record_in_order(at, sizeof(T), kind, pc);
}

// CUDA's atomic on this address is done.
inline void end_atomic() { recording.atomic = 0; }

}  // namespace

}  // namespace simt

#define SIMT_PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define SIMT_UPDATE(bits, type, name, operation)                     \
  type __tsan_atomic##bits##_##name(volatile type* a, type v, int) { \
    simt::report(a, simt::AccessKind::atomic, SIMT_PC);              \
    return operation(a, v, __ATOMIC_SEQ_CST);                        \
  }
#define SIMT_EXCHANGE(bits, type, name, weak)                                                                \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile type* a, type* expected, type v, int, int) {    \
    simt::report(a, simt::AccessKind::atomic, SIMT_PC);                                                      \
    const bool done = __atomic_compare_exchange_n(a, expected, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    if (done) simt::end_atomic();                                                                            \
    return done;                                                                                             \
  }
#define SIMT_ATOMIC(bits, type)                                                                                      \
  type __tsan_atomic##bits##_load(const volatile type* a, int) {                                                     \
    simt::report(a, simt::AccessKind::volatile_load, SIMT_PC);                                                       \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                  \
  void __tsan_atomic##bits##_store(volatile type* a, type v, int) {                                                  \
    simt::report(a, simt::AccessKind::volatile_store, SIMT_PC);                                                      \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                                        \
    simt::end_atomic();                                                                                              \
  }                                                                                                                  \
  SIMT_UPDATE(bits, type, exchange, __atomic_exchange_n)                                                             \
  SIMT_UPDATE(bits, type, fetch_add, __atomic_fetch_add)                                                             \
  SIMT_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub)                                                             \
  SIMT_UPDATE(bits, type, fetch_and, __atomic_fetch_and)                                                             \
  SIMT_UPDATE(bits, type, fetch_or, __atomic_fetch_or)                                                               \
  SIMT_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor)                                                             \
  SIMT_UPDATE(bits, type, fetch_nand, __atomic_fetch_nand)                                                           \
  SIMT_EXCHANGE(bits, type, strong, false)                                                                           \
  SIMT_EXCHANGE(bits, type, weak, true)                                                                              \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* a, type expected, type v, int, int) {               \
    simt::report(a, simt::AccessKind::atomic, SIMT_PC);                                                              \
    if (__atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) simt::end_atomic(); \
    return expected;                                                                                                 \
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
