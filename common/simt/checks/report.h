// How the checks speak.
#pragma once

#include <string>

#include "observer.h"

namespace simt::checks {

// "float x[64 x 64]" and the like: named ranges and allocations, for messages and for bounds.
std::string describe(const BlockInfo& block, AddressSpace space, uintptr_t address);

// "softmax.cu:42", or "an unknown line".
std::string line_of(uintptr_t pc);

// "thread (3,0,0)", with its block if it is not `here`.
std::string name_of(const uint3& thread);

// Ends the process: `what` is "racecheck: race in shared memory" or the like, `detail` the rest.
[[noreturn]] void report(const char* what, const ThreadId& thread, uintptr_t pc, const std::string& detail);
[[noreturn]] void report(const char* what, const ThreadId& thread, Place place, const std::string& detail);

}  // namespace simt::checks
