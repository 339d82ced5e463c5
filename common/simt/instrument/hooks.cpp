// The functions that an instrumented kernel calls: those of GCC's and Clang's -fsanitize=thread for memory accesses and
// calls, and of -fsanitize-coverage=trace-pc for basic blocks. The kernel is compiled with these options but not linked
// with the sanitizers, so it finds these functions instead.
#include <cstring>

#include "recorder.h"

namespace simt {

void record_pieces(uintptr_t address, size_t bytes, Event event, uintptr_t pc) {
  if (!recording.lane) return;
  const unsigned piece = bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
  for (size_t at = 0; at < bytes; at += piece) record(address + at, piece, event, pc, false);
}

}  // namespace simt

using simt::Event;
using simt::LaneLog;
using simt::record_pieces;
using simt::recording;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define ADDRESS reinterpret_cast<uintptr_t>(address)

// Aligned accesses, and those of which the compiler knows that they may not be: one of N bytes counts as pieces of
// less.
#define SIMT_ACCESS(bytes)                                                                        \
  void __tsan_read##bytes(void* address) { simt::record(ADDRESS, bytes, Event::load, CALLER); }   \
  void __tsan_write##bytes(void* address) { simt::record(ADDRESS, bytes, Event::store, CALLER); } \
  void __tsan_volatile_read##bytes(void* address) {                                               \
    simt::record_in_order(ADDRESS, bytes, simt::AccessKind::volatile_load, CALLER);               \
  }                                                                                               \
  void __tsan_volatile_write##bytes(void* address) {                                              \
    simt::record_in_order(ADDRESS, bytes, simt::AccessKind::volatile_store, CALLER);              \
  }                                                                                               \
  void __tsan_read_write##bytes(void* address) {                                                  \
    simt::record(ADDRESS, bytes, Event::load, CALLER);                                            \
    simt::record(ADDRESS, bytes, Event::store, CALLER);                                           \
  }
#define SIMT_UNALIGNED(bytes, piece)                                                                               \
  void __tsan_unaligned_read##bytes(void* address) {                                                               \
    for (unsigned at = 0; at < bytes; at += piece) simt::record(ADDRESS + at, piece, Event::load, CALLER, false);  \
  }                                                                                                                \
  void __tsan_unaligned_write##bytes(void* address) {                                                              \
    for (unsigned at = 0; at < bytes; at += piece) simt::record(ADDRESS + at, piece, Event::store, CALLER, false); \
  }                                                                                                                \
  void __tsan_unaligned_volatile_read##bytes(void* address) {                                                      \
    for (unsigned at = 0; at < bytes; at += piece) simt::record(ADDRESS + at, piece, Event::load, CALLER, false);  \
  }                                                                                                                \
  void __tsan_unaligned_volatile_write##bytes(void* address) {                                                     \
    for (unsigned at = 0; at < bytes; at += piece) simt::record(ADDRESS + at, piece, Event::store, CALLER, false); \
  }

namespace {

__attribute__((noinline)) void give_way() {
  recording.gives_way = false;
  simt::settle_store();
  simt::current_block->yield();
}

__attribute__((always_inline)) inline void jump_back(LaneLog* lane, uintptr_t from, uintptr_t to) {
  simt::record_jump_back(lane, from, to);
  if (__builtin_expect(recording.gives_way, 0)) give_way();
}

__attribute__((noinline)) void enter_traced_block(LaneLog* lane, uintptr_t last, uintptr_t pc) {
  if (pc <= last) jump_back(lane, last, pc);
  if (!simt::has_room(lane)) return recording.recorder->enter_block(lane, pc);
  simt::append_key(lane, simt::key_at(lane, pc, Event::basic_block, 0));
}

}  // namespace

extern "C" {

SIMT_ACCESS(1)
SIMT_ACCESS(2)
SIMT_ACCESS(4)
SIMT_ACCESS(8)
SIMT_ACCESS(16)
SIMT_UNALIGNED(2, 1)
SIMT_UNALIGNED(4, 2)
SIMT_UNALIGNED(8, 4)
SIMT_UNALIGNED(16, 4)

void __tsan_read_range(void* address, size_t bytes) { record_pieces(ADDRESS, bytes, Event::load, CALLER); }
void __tsan_write_range(void* address, size_t bytes) { record_pieces(ADDRESS, bytes, Event::store, CALLER); }

// What a kernel moves by a call of the C library: the instrumented rung is linked with --wrap, so that its calls come
// here.
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  record_pieces(reinterpret_cast<uintptr_t>(from), bytes, Event::load, CALLER);
  record_pieces(reinterpret_cast<uintptr_t>(to), bytes, Event::store, CALLER);
  return std::memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  record_pieces(reinterpret_cast<uintptr_t>(from), bytes, Event::load, CALLER);
  record_pieces(reinterpret_cast<uintptr_t>(to), bytes, Event::store, CALLER);
  return std::memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, size_t bytes) {
  record_pieces(reinterpret_cast<uintptr_t>(to), bytes, Event::store, CALLER);
  return std::memset(to, value, bytes);
}

// Virtual tables are the host's.
void __tsan_vptr_read(void*) {}
void __tsan_vptr_update(void*, void*) {}
void __tsan_init() {}

void __tsan_func_entry(void* call) {
  if (LaneLog* const lane = recording.lane) recording.recorder->enter(lane, reinterpret_cast<uintptr_t>(call));
}

void __tsan_func_exit() {
  if (LaneLog* const lane = recording.lane) recording.recorder->leave(lane);
}

// Called at the beginning of every basic block. A block that is not further on than what the lane did last in this call
// of the function begins another round of a loop.
void __sanitizer_cov_trace_pc() {
  LaneLog* const lane = recording.lane;
  if (!lane) return;
  const uintptr_t pc = CALLER, last = lane->last_pc;
  lane->last_pc = pc;
  // Called last, so that most blocks need no registers saved.
  if (__builtin_expect(recording.tracing, 0)) return enter_traced_block(lane, last, pc);
  if (pc <= last) jump_back(lane, last, pc);
}

}  // extern "C"
