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
  double left_in_part = 1;  // of the sectors that single stores write in part, those that all of them do
  double atomics_late = 0;  // of the way through its trace that a warp is at its atomics, on average
  // Nanoseconds that the busiest part of L2 needs for their atomics: where several of them are, or where one is alone.
  double busiest_of_several = 0, busiest_of_one = 0;
  double atomic_sectors = 0;  // of a block, on average
  // Of blocks that have their atomics in places apart, as where a part of the grid fills one table: nanoseconds of one
  // block, on average; otherwise 0.
  double atomics_of_block = 0;
  size_t blocks = 0;
};

// Instructions of the traced warps that are divisions of single precision or of integers.
double divisions_in(const LaunchTrace& trace, uint64_t origin, const Operations& operations);

Touched look_at(const LaunchTrace& trace, uint64_t origin, const Operations& operations, const Machine& machine);

// Nanoseconds that the busiest part of L2 is busy with atomics. Where a traced block is alone, others that were not
// traced may be, too: as many as share a sector on average. Blocks that share their place with neighbours in the grid
// alone run at the same time: all of them want the same few parts of L2, while the others have nothing to do. blocks,
// sectors_written (distinct ones): of the launch; at_one_time: blocks that the GPU runs.
double nanoseconds_of_atomics(const Touched& touched, double blocks, double sectors_written, double at_one_time);

}  // namespace simt::timing
