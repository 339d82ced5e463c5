// The atomic operations of a kernel from an instrumented build. simt/atomics.h reports an atomic once, before it
// begins: at most one load and one exchange or store of the lane that announced it, of no more bytes and of no other
// kind. Whatever a kernel does beyond that is reported here: it can call what announces, too.
#include <cstdint>

#include "recorder.h"

namespace simt {

namespace {

// Whether the operation belongs to the atomic that its lane has announced. All but a load end it.
inline bool is_announced(uintptr_t address, unsigned bytes, AccessKind kind) {
  Recorder::Announced& atomic = recording.recorder->announced();
  if (atomic.address != address || bytes > atomic.bytes) return false;
  const bool loads = kind == AccessKind::volatile_load;
  const bool is_part = kind == AccessKind::volatile_store || (!atomic.stores_only && !(loads && atomic.loaded));
  atomic.loaded = true;
  if (!loads) {
    atomic.address = 0;
    recording.recorder->use_rows(log_rows);
  }
  return is_part;
}

template <typename T>
__attribute__((always_inline)) inline void report(const volatile T* address, AccessKind kind, uintptr_t pc) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (recording.lane && !is_announced(at, sizeof(T), kind)) record_in_order(at, sizeof(T), kind, pc);
}

void note_change(uintptr_t address, uint64_t before, uint64_t after, bool chooses, uintptr_t pc) {
  recording.recorder->changes(address, before, after);
  chooses ? recording.recorder->chooses(address, pc) : recording.recorder->counts(address);
}

// An update that was not written as an exchange has found this.
template <typename T>
inline T updated(volatile T* address, T found) {
  const T now = __atomic_load_n(address, __ATOMIC_SEQ_CST);
  if (now != found && recording.lane && recording.counting)
    note_change(reinterpret_cast<uintptr_t>(address), found, now, false, 0);
  return found;
}

// What an exchange compares with lies where the kernel says, and gets what was found.
template <typename T>
inline bool exchange(volatile T* address, T* expected, T value, bool weak, uintptr_t pc) {
  report(address, AccessKind::atomic, pc);
  record(reinterpret_cast<uintptr_t>(expected), sizeof(T), Event::load, pc);
  T found = *expected;
  const bool done = __atomic_compare_exchange_n(address, &found, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  const auto at = reinterpret_cast<uintptr_t>(address);
  // What changes nothing only looks, as who waits for its turn. Of a maximum, which most often changes nothing, too,
  // simt/atomics.h says that it is weak.
  if (recording.lane && recording.counting) {
    if (done && found != value) {
      note_change(at, found, value, weak, pc);
    } else {
      weak ? recording.recorder->chooses_nothing(at, pc) : recording.recorder->looks_at(at);
    }
  }
  if (done) return true;
  record(reinterpret_cast<uintptr_t>(expected), sizeof(T), Event::store, pc);
  *expected = found;
  return false;
}

}  // namespace

}  // namespace simt

#define SIMT_PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define SIMT_UPDATE(bits, type, name, operation)                     \
  type __tsan_atomic##bits##_##name(volatile type* a, type v, int) { \
    simt::report(a, simt::AccessKind::atomic, SIMT_PC);              \
    return simt::updated(a, operation(a, v, __ATOMIC_SEQ_CST));      \
  }
#define SIMT_EXCHANGE(bits, type, name, weak)                                                             \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile type* a, type* expected, type v, int, int) { \
    return simt::exchange(a, expected, v, weak, SIMT_PC);                                                 \
  }
#define SIMT_ATOMIC(bits, type)                                                                        \
  type __tsan_atomic##bits##_load(const volatile type* a, int) {                                       \
    simt::report(a, simt::AccessKind::volatile_load, SIMT_PC);                                         \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                    \
  void __tsan_atomic##bits##_store(volatile type* a, type v, int) {                                    \
    simt::report(a, simt::AccessKind::volatile_store, SIMT_PC);                                        \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                    \
  SIMT_UPDATE(bits, type, exchange, __atomic_exchange_n)                                               \
  SIMT_UPDATE(bits, type, fetch_add, __atomic_fetch_add)                                               \
  SIMT_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub)                                               \
  SIMT_UPDATE(bits, type, fetch_and, __atomic_fetch_and)                                               \
  SIMT_UPDATE(bits, type, fetch_or, __atomic_fetch_or)                                                 \
  SIMT_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor)                                               \
  SIMT_UPDATE(bits, type, fetch_nand, __atomic_fetch_nand)                                             \
  SIMT_EXCHANGE(bits, type, strong, false)                                                             \
  SIMT_EXCHANGE(bits, type, weak, true)                                                                \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* a, type expected, type v, int, int) { \
    simt::report(a, simt::AccessKind::atomic, SIMT_PC);                                                \
    __atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return expected;                                                                                   \
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
