// How a kernel that cannot go on is reported: deadlocks, crashes, time-outs. simt.h has the interface for hosts.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "simt.h"

namespace simt {

// Hands a failure to the handler of simt.h.
[[noreturn]] void report_failure(Failure& failure);

// Asked first at every invalid address; true if the access can be tried again. For signal handlers.
void repair_faults(bool (*repair)(uintptr_t address));

// What is done when the time is over (SIGUSR1) and no kernel runs in this process; true if somebody else says so.
void on_idle_timeout(bool (*handler)());

// Where a module other than the executor's has called the runtime: the innermost place on the stack. 0 if there is
// none.
uintptr_t users_caller();
// The same where the program and the executor may be one module: then the files tell them apart.
uintptr_t users_frame();

// A call of the host's code that cannot go on; the place is the innermost of the user's own.
[[noreturn]] void fail_in_host(const char* what, const std::string& detail);

// A thread of a kernel that cannot go on, at this place: the one that runs, or another of the launch.
[[noreturn]] void fail_in_kernel(const std::string& what, const std::string& detail, Place place);
[[noreturn]] void fail_in_kernel(const std::string& what, const std::string& detail, Place place, uint3 block,
                                 uint3 thread);

// Gives the calling OS thread a stack of its own for signal handlers, so that a stack overflow can be reported.
void use_signal_stack();

}  // namespace simt
