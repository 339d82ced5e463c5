// The time that a launch would take on a GPU that is not there, from what its warps did here: with cold caches, as
// replays of a graph over rotating buffers take it. README.md explains the model.
#pragma once

#include <string>
#include <vector>

#include "multiprocessor.h"
#include "trace.h"

namespace simt::timing {

struct LaunchFacts {
  uint64_t blocks;
  unsigned threads;                        // of a block
  size_t shared_bytes;                     // of a block, dynamic and static
  uint64_t sectors_read, sectors_written;  // distinct
  int registers = 0;                       // of a thread, where nvcc has said it; 0: estimated
};

struct Prediction {
  bool known = false;
  std::string why;  // not known
  std::string gpu;
  double seconds = 0, low = 0, high = 0;
  double at_least = 0;    // not known: seconds, without what is not modelled; 0: nothing is known
  double rest = 0;        // likewise without the code whose cost is not known: no prediction, but no less than it
  std::string limit;      // dram l2 lsu issue mufu double latency launch tail atomics
  std::string words;      // what that means, and what to change
  unsigned times = 1;     // the launch stands for so many (predictor.h)
  unsigned resident = 0;  // blocks that fit on a multiprocessor at a time
  uint64_t given = 0;     // blocks of the grid for each multiprocessor, at most
  std::string bound_by;   // what allows no more: threads blocks registers shared grid
  int registers = 0;      // of a thread: nvcc's or an estimate
  double bytes_in_flight = 0, bytes_needed = 0;           // of the chip; to fill DRAM by Little's law
  double dram = 0, l2 = 0, lsu = 0, issue = 0, mufu = 0;  // of the time, the share in which it was busy
  double instructions = 0;                                // of warps, in the whole launch
  std::vector<Segment> segments;
  double segment_scale = 0;  // makes of a segment's cycles microseconds of a warp
};

// Seconds that a launch takes at least whose blocks did more than a trace has room for: each of its entries, in blocks
// that up to 16 OS threads ran, is an instruction at least.
inline double least_of_a_full_trace(const LaunchFacts& facts, const Machine& machine) {
  const double share = static_cast<double>(facts.blocks) / (16.0 * machine.multiprocessors);
  return room / 4.0 / machine.clock_ghz * 1e-9 * (share < 1 ? share : 1);
}

Prediction predict(const LaunchTrace& trace, uint64_t origin, const Operations& operations, const LaunchFacts& facts,
                   const Machine& machine);

}  // namespace simt::timing
