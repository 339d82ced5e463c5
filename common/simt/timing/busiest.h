// Of a grid whose blocks differ and all run at one time: the multiprocessor that has most to do.
#pragma once

#include <cstdint>
#include <vector>

#include "multiprocessor.h"

namespace simt::timing {

uint64_t steps_of(const BlockProgram& program);

// work: entries that each block of the grid has (LaunchTrace). Do they have very different work?
bool differ(const std::vector<uint32_t>& work);

// Of a block that was not traced the number of entries is known: it does as much more or less than the traced one that
// has the nearest number.
struct Busiest {
  std::vector<const BlockProgram*> programs;  // for each of its blocks that nearest one
  double over_own = 1;                        // its work over that of `programs`
  double over_mean = 1;                       // its accesses over those of the mean multiprocessor
};

Busiest busiest(const std::vector<uint32_t>& work, const std::vector<BlockProgram>& programs, const Machine& machine);

}  // namespace simt::timing
