// The switch from one fiber to another, x86-64 and aarch64.
//
// Boost.Context's jump_fcontext would do, but it returns by a jump, which leaves the CPU's return predictor one entry
// off: every return that follows is mispredicted. This one returns with `ret`, and saves only what a function call must
// keep.
#pragma once

#include <cstdint>
#include <cstring>

#include "memory.h"

extern "C" {
// Saves the running fiber's registers on its stack and the stack pointer in *from; goes on where `to` was saved.
void simt_switch(void** from, void* to);

// Calls run(arguments). Before that it writes into both ranges, which begin where the running fiber's stack does, how
// long they are: up to the kernel's first frame. What lies above it is the executor's, callee-saved registers included.
void simt_call_kernel(void (*run)(const void*), const void* arguments, simt::Allocation* local, simt::Allocation* copy);
}

namespace simt {

// A new fiber: switching to the result calls entry() on an empty stack. `entry` must not return.
inline void* make_fiber(void* stack_top, void (*entry)()) {
#if defined(__x86_64__)
  // Six saved registers, the address that simt_switch returns to, and the alignment that a call leaves.
  constexpr int words = 8, entry_word = 6;
#elif defined(__aarch64__)
  // x19..x30, d8..d15: simt_switch returns to x30.
  constexpr int words = 20, entry_word = 11;
#else
#error "the executor runs on x86-64 and aarch64"
#endif
  void** frame = static_cast<void**>(stack_top) - words;
  std::memset(frame, 0, words * sizeof(void*));
  frame[entry_word] = reinterpret_cast<void*>(entry);
  return frame;
}

// The fiber that was saved at `context`, to be switched to once: it calls run() where it gave way, so that its stack
// can be followed from there. nullptr where simt_switch returns to a register.
inline void* made_to_call([[maybe_unused]] void* context, [[maybe_unused]] void (*run)()) {
#if defined(__x86_64__)
  constexpr int saved = 6;  // registers; above them lies the address that run() is to return to
  void** const frame = static_cast<void**>(context) - 1;
  std::memmove(frame, context, saved * sizeof(void*));
  frame[saved] = reinterpret_cast<void*>(run);
  return frame;
#else
  return nullptr;
#endif
}

}  // namespace simt
