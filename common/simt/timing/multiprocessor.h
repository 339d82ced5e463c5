// One multiprocessor, simulated: the warps of its resident blocks take turns at its schedulers, its load and store unit
// and its share of L2 and DRAM. What every unit does is in order of arrival.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "machine.h"
#include "program.h"

namespace simt::timing {

struct BlockProgram {
  const BlockTrace* trace;
  std::vector<WarpProgram> warps;
};

// What a warp waits for, or does.
enum class Cause : uint8_t { running, issue, mufu, shared, shuffle, l1, l2, dram, atomic, barrier, stores, causes };
constexpr size_t cause_count = static_cast<size_t>(Cause::causes);
// In reports.
constexpr const char* cause_names[cause_count] = {"running", "issue", "mufu",   "shared",  "shuffle", "l1",
                                                  "l2",      "dram",  "atomic", "barrier", "stores"};

struct Work {
  std::vector<const BlockProgram*> programs;  // one after another, and again from the first
  uint64_t blocks = 0;                        // to be run
  unsigned resident = 1;                      // at a time
  double l1_bytes = 0;
  double dram_share = 0, l2_share = 0;  // bytes per cycle
  double reuse_bytes = 0;               // of this multiprocessor's, after which L2 has forgotten a line
  double first_touch = 1;               // of the sectors that a block touches first, those that nobody touched before
  double first_common_touch = 1;        // the same of common_lines, of the sectors that a multiprocessor touches first
  double first_write = 1;               // of those that it writes, those that no other block writes a part of, too
  double left_in_part = 1;              // of sectors that a store writes in part, those that no other store completes
  double partial_share = 0;             // lines a cycle, of those whose sectors are written in part
  double atomic_share = 0;              // lines a cycle, of those with atomics
  const std::unordered_set<uint64_t>* shared_lines = nullptr;  // that blocks far apart touch
  const std::unordered_set<uint64_t>* common_lines = nullptr;  // those of them that most blocks read
};

// Between two barriers of a block.
struct Segment {
  std::array<double, cause_count> cycles = {};  // by cause, of all its warps
};

struct Outcome {
  double cycles = 0;
  // Of the cycles, those in which a unit was busy.
  double issue = 0, alu = 0, mufu = 0, doubles = 0, lsu = 0, port = 0, l2 = 0, dram = 0;
  double byte_cycles = 0;  // bytes on their way to a register, times the cycles that each took
  std::vector<Segment> segments;
  uint64_t warps = 0;
};

Outcome simulate(const Work& work, const Machine& machine);

}  // namespace simt::timing
