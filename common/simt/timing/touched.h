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
  double sectors_written = 0;                 // likewise, by stores
  double left_in_part = 1;     // of the sectors that single stores write in part, those that all of them do
  double atomics_late = 0;     // of the way through its trace that a warp is at its atomics, on average
  double busiest_atomics = 0;  // nanoseconds that the busiest part of L2 needs for theirs, of all blocks
  // Of blocks that have their atomics in places apart, as where a part of the grid fills one table: the same of one
  // block, on average, and how many sectors it has there; otherwise 0.
  double atomics_of_block = 0, atomic_sectors = 0;
  size_t blocks = 0;
};

// Instructions of the traced warps that are divisions of single precision or of integers.
double divisions_in(const LaunchTrace& trace, uint64_t origin, const Operations& operations);

Touched look_at(const LaunchTrace& trace, uint64_t origin, const Operations& operations, const Machine& machine);

// Nanoseconds that atomics take of blocks that share their place with neighbours in the grid alone. These run at the
// same time: all of them want the same few parts of L2, while the others have nothing to do. blocks, sectors_written
// (distinct ones): of the launch; at_one_time: blocks that the GPU runs.
double of_neighbours(const Touched& touched, double blocks, double sectors_written, double at_one_time);

}  // namespace simt::timing
