// What an access of memory that is not there was: said of the signal that it raised, where no check has seen it coming.
#pragma once

#include <signal.h>

#include <cstdint>

#include "simt.h"

namespace simt {

inline constexpr const char* stack_overflow = "stack overflow";

// Sets `what` and `detail`. sp: the thread's stack pointer; failure->in_kernel is set.
void describe_fault(const siginfo_t& info, uintptr_t sp, Failure* failure);

}  // namespace simt
