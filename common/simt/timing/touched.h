// What the traced blocks of a launch touch in global memory: what they share, and where they wait in line.
#pragma once

#include <unordered_set>

#include "machine.h"
#include "operations.h"
#include "trace.h"

namespace simt::timing {

// Of the traced blocks.
struct Touched {
  std::unordered_set<uint64_t> shared_lines;  // by more than one of them
  std::unordered_set<uint64_t> common_lines;  // that most of them read
  double common_sectors_read = 0;             // distinct, of these lines
  double other_sectors_read = 0;              // of all other lines: distinct in a block, of all blocks
  double sectors_written = 0;
  double left_in_part = 1;     // of the sectors that single stores write in part, those that all of them do
  double atomics_late = 0;     // of the way through its trace that a warp is at its atomics, on average
  double busiest_atomics = 0;  // nanoseconds that the busiest 512 bytes need for theirs, of all blocks
};

// Instructions of the traced warps that are divisions of single precision or of integers.
double divisions_in(const LaunchTrace& trace, uint64_t origin, const Operations& operations);

Touched look_at(const LaunchTrace& trace, uint64_t origin, const Operations& operations, const Machine& machine);

}  // namespace simt::timing
