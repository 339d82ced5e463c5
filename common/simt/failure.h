// How a kernel that cannot go on is reported: deadlocks, crashes, time-outs. simt.h has the interface for hosts.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "simt.h"

namespace simt {

struct WaitingThread {
  uint3 index;
  Place place;
  unsigned mask;
};

// No thread of the block can go on: says who waits where.
[[noreturn]] void fail_deadlock(uint3 block, const std::vector<WaitingThread>& waiting, unsigned threads_per_block);

// Hands a failure to the handler of simt.h.
[[noreturn]] void report_failure(Failure& failure);

// Gives the calling OS thread a stack of its own for signal handlers, so that a stack overflow can be reported.
void use_signal_stack();

}  // namespace simt
