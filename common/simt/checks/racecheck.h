// racecheck: two threads touch the same bytes, at least one of them writes, and nothing orders the two accesses.
//
// Decided by the order that synchronisation imposes, not by what this run's schedule happened to do: each access leaves
// a stamp, and a later access must be ordered after it by
//  - a barrier of the block between the two,
//  - a warp operation that both lanes took part in (vector clocks of the warp's lanes), or
//  - atomics: the first thread has since done an atomic on an address on which the second has done a later one. Atomics
//    among themselves never race.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "observer.h"
#include "shadow.h"

namespace simt::checks {

class Racecheck {
 public:
  void launch_begin();
  void block_begin(const BlockInfo& block);
  void access(const BlockInfo& block, const ThreadId& thread, const Access& access);
  void barrier_complete() { epoch_++; }
  void warp_complete(unsigned warp, unsigned arrived);
  void freed(uintptr_t begin, size_t bytes) { global_.forget(begin, bytes); }

 private:
  // Who made an access, and when by his own clocks.
  struct Stamp {
    uint32_t block = 0;
    uint16_t thread = 0;
    uint16_t lane_clock = 0;
    uint32_t epoch = 0;     // barriers of the block before it
    uint32_t sequence = 0;  // atomics of the launch before it
    int32_t pc = 0;         // relative to anchor_
    uint8_t bytes = 0;      // mask within the word; 0: no access
    bool atomic = false;
  };

  // Three reads are kept: the last, the last of another thread before it, and the last of another warp.
  struct Cell {
    uint64_t serial = 0;  // of the launch (global) or the block (shared) that the stamps belong to
    Stamp write, reads[3];
  };

  using LaneClocks = std::array<uint16_t, 32>;  // what a lane knows of its warp's lanes

  bool is_ordered(const Stamp& before, const Stamp& now) const;
  bool atomics_order(const Stamp& before, const Stamp& now) const;
  void visit(const BlockInfo& block, const ThreadId& thread, const Access& access, uintptr_t word, const Stamp& now);
  [[noreturn]] void report_race(const BlockInfo& block, const ThreadId& thread, const Access& access, uintptr_t word,
                                const Stamp& before, bool before_wrote);

  Shadow<Cell> global_, shared_;
  uint64_t launches_ = 0, blocks_ = 0;
  uint32_t epoch_ = 0, sequence_ = 0;
  std::vector<LaneClocks> clocks_;  // by thread of the block
  uintptr_t anchor_ = 0;
  std::vector<dim3> thread_index_;

  // The last atomic on an address: by a block, and by a thread of the running block. Sequence numbers start at 1.
  std::unordered_map<uintptr_t, std::unordered_map<uint32_t, uint32_t>> block_atomics_, thread_atomics_;
  std::unordered_map<uint32_t, uint3> block_index_;
};

}  // namespace simt::checks
