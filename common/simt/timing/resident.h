// What a simulated multiprocessor keeps: a unit that serves in order of arrival, a line of L1, a resident block and its
// warps. For multiprocessor.cpp alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "multiprocessor.h"

namespace simt::timing {

// What is in order of arrival, one after the other.
class Server {
 public:
  // When a job that arrives at `now` and takes `cycles` is done.
  double serve(double now, double cycles) {
    free_ = std::max(free_, now - lent_) + cycles;
    busy_ += cycles;
    return std::max(free_, now);
  }
  // It is the share of one among many: what it left of the last `cycles` it may use later.
  void lend(double cycles) { lent_ = lent_ > 0 ? lent_ : cycles; }
  double free() const { return free_; }
  double busy() const { return busy_; }

 private:
  double free_ = 0, busy_ = 0, lent_ = 0;
};

struct Line {
  uint8_t in_l1 = 0, touched = 0, written = 0;  // sectors
  bool common = false;                          // one of Work::common_lines
  float ready[4] = {};                          // when a sector arrives in L1
  float from_dram[2] = {};                      // when what DRAM was asked for arrives, by halves
  uint64_t stamp = 0;                           // bytes that had come into L1 before
};

// What it costs DRAM, in bytes, to read these sectors for what is written in part: it is read by 64 bytes.
inline double to_fill(unsigned sectors, const Machine& machine) {
  return (((sectors & 3) != 0) + ((sectors & 12) != 0)) * 64 * machine.half_line;
}

// L1 has four banks of 32 bytes, each of which gives a sector a cycle.
inline double l1_passes(const Entry& entry, const uint64_t* lines) {
  double passes = std::ceil(entry.lanes * entry.bytes / 128.0);
  for (unsigned bank = 0; bank < 4; bank++) {
    unsigned sectors = 0;
    for (unsigned i = 0; i < entry.lines; i++) sectors += lines[i] >> bank & 1;
    passes = std::max<double>(passes, sectors);
  }
  return passes;
}

struct Late {
  float at = 0;
  Cause cause = Cause::running;
};

struct Warp {
  const WarpProgram* program = nullptr;
  const WarpTrace* trace = nullptr;
  size_t window = 0, step = 0;
  std::vector<Late> values;
  std::vector<uint32_t> line_of;  // where an access's lines begin
  unsigned segment = 0;
  double arrived = 0;
  bool waits = false, done = false;
};

struct Resident {
  const BlockProgram* program = nullptr;
  uint64_t instance = 0;
  std::vector<Warp> warps;
  unsigned live = 0, arrived = 0;
  double counted = 0;                          // when the barrier has counted the last warp that arrived
  std::unordered_map<uint64_t, Server> tried;  // by where in the code atomics on shared memory are loops
};

}  // namespace simt::timing
