// Files of measured warp accesses, such as h200_warp_accesses.csv, and their comparison with the rules.
#pragma once

#include <string>
#include <vector>

#include "rules.h"

namespace simt::counters {

// One launch that was measured: what the warp did and what Nsight Compute read.
struct Reading {
  int line;  // in the file, from 1
  Space space;
  Op op;
  unsigned bytes;
  uint32_t active;
  uint64_t addresses[warp_lanes];
  unsigned first, second;  // requests and sectors, or wavefronts and conflicts
};

// Throws std::runtime_error that names the file, the line and what is wrong with it.
std::vector<Reading> read_readings(const std::string& path);

// The same two numbers by the rules.
struct Counted {
  unsigned first, second;
};
Counted count(const Reading& reading);

}  // namespace simt::counters
