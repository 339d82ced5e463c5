// What an instrumented kernel's hooks (instrument/) read at every access, of the block that this OS thread runs. The
// block sets whose turn it is, and the recorder the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "memory.h"

namespace simt {

class Observer;
class Recorder;
struct LaneLog;

// What the hooks need at every access, of the block that this OS thread runs. `lane` is nullptr when nothing is
// recorded.
struct Recording {
  LaneLog* lane;
  Recorder* recorder;
  // Ranges in which an aligned access is recorded without more ado: those used last.
  static constexpr unsigned known_ranges = 4;
  Allocation known[known_ranges];
  uintptr_t global, global_bytes;        // a range that holds all allocations
  uintptr_t variables, variables_bytes;  // a range that holds all __device__ variables
  uintptr_t dynamic_shared, dynamic_bytes;
  uintptr_t static_shared, static_bytes;
  bool main_program;                     // the static range holds the executor's variables too
  bool counting;                         // lanes are put together to warp instructions; else only the observer looks on
  bool tracing;                          // basic blocks are recorded too
  const std::vector<uintptr_t>* guards;  // and the compiler's, if it is not empty
  unsigned next_known;
  bool gives_way;  // the thread has run for long: others go on at its next jump back (spinning.h)
  Observer* observer;
  // The last plain store, if what it has stored is not in the log yet (instrument/stores.cpp); `slot` is its key's.
  struct {
    uint64_t* slot;
    uintptr_t address;
    unsigned bytes;
    uint64_t before[2];  // what was there
  } store;
  // The last jump back in this block: in a loop the next one is the same. `key` lacks the lane's frame.
  struct {
    uintptr_t from, to;
    uint64_t key, value;
  } jump;
};
// The executor is only ever part of a program: its variables have fixed places in thread-local memory.
extern __thread Recording recording __attribute__((tls_model("local-exec")));

}  // namespace simt

// The running thread's local memory, while a kernel is watched; otherwise all addresses, so that none is recorded.
extern "C" {
extern __thread simt::Allocation simt_local __attribute__((tls_model("local-exec")));
// How many bytes of it, from its end down, any thread of this OS thread has used so far.
extern __thread int64_t simt_depth __attribute__((tls_model("local-exec")));
}
