// racecheck: two threads touch the same bytes, at least one of them writes, and nothing orders the two accesses.
//
// Decided by the order that synchronisation imposes, not by what this run's schedule happened to do. Every
// synchronisation gets a time; each access leaves a stamp with the time of the last one; a later access must be ordered
// after it by
//  - a barrier of the block between the two,
//  - a warp operation that both lanes took part in,
//  - a barrier of some warps, or
//  - atomics (publication.h). Atomics among themselves never race.
// An atomic of global memory does not race with a plain load of it, either: programs read a word before they try to
// exchange it (CUDA's own example of atomicAdd for double does), and a load of an aligned word yields some value that
// the word had.
//
// Plain stores of the same bytes do not race with each other, in whatever order they come (NVIDIA's racecheck has them
// as INFO, which it does not report): several threads set one flag, or give a vertex the same level. In global memory a
// store of what was there already does not race with a read, either: whoever reads gets one value. In shared memory it
// does: a barrier is missing there, and with other data the value would change. Nor does a read of global memory by
// which a thread decides whether to store what all others store there, too; two threads that both take themselves for
// the first are therefore not seen.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer.h"
#include "publication.h"
#include "shadow.h"

namespace simt::checks {

// The first race of a block.
struct Race {
  ThreadId thread;
  uintptr_t pc;
  const char* what;
  std::string detail;
};

class Racecheck {
 public:
  explicit Racecheck(Shadow& shadow) : shadow_(shadow) {}

  // in_turns: what other blocks did is not judged, since publication.h knows of no block that goes on after others.
  void launch_begin(bool in_turns = false);
  // Also where a block goes on after grid.sync(), which orders all that was before it.
  void block_begin(const BlockInfo& block);
  void grid_complete() { launch_begin(in_turns_); }
  void cluster_begin() { cluster_ = cluster_barrier_ = tick(); }
  void cluster_complete() { cluster_barrier_ = tick(); }
  void barrier_complete() { barrier_ = tick(); }
  void warp_complete(unsigned warp, unsigned arrived);
  // Barriers of some warps (include/simt/meeting.h): what a warp did before it arrived comes before what a warp does
  // that has waited for this phase. By whole warps: what one lane does counts for all.
  void meeting_arrive(unsigned warp, uint64_t key, unsigned phase);
  void meeting_left(unsigned warp, uint64_t key, unsigned phase);
  void fence() { publication_.fence(tick()); }

  // Accesses of `bytes` bytes by threads that follow each other, at addresses that do, all in one page: the first is
  // `thread`'s at `address`.
  void access(Page& page, const BlockInfo& block, const LanesAccess& access, AddressSpace space, uintptr_t address,
              unsigned thread, unsigned threads);

  // A race that has been found in this block; nullptr if there is none. It is only the block's end that tells whether
  // something worse, such as a barrier that not all threads reach, lies behind it.
  const Race* found(bool block_is_complete = false);

  // Has the line at `pc`, in this block, touched the element just before this one?
  bool touched_before(uintptr_t address, unsigned bytes, uintptr_t pc);

 private:
  // What is constant while one warp instruction is looked at.
  struct Now {
    const BlockInfo& block;
    const LanesAccess& access;
    AddressSpace space;
    bool atomic, writes;
    Stamp stale;     // stamps below are of an earlier launch or, in shared memory, block
    uintptr_t page;  // its address
    uintptr_t address;
    uint32_t
        changes;  // by lane: it stores, and the memory was not so before; or a store that is not ordered has changed it
  };

  uint32_t tick();
  uint32_t number_of(uintptr_t pc);
  uint32_t known(unsigned thread, unsigned lane) const;
  bool has_synchronised(unsigned before, uint32_t time, unsigned thread) const;
  // Not by atomics on the address `but`.
  bool is_ordered(Stamp before, unsigned thread, uintptr_t but = 0) const;

  // Is the access of no interest to whatever this block's `thread` does now, by the stamp alone?
  bool is_past(Stamp before, Stamp now, Stamp stale) const {
    return before < stale || (before >= block_stamp_ && (before < barrier_stamp_ || is_same_thread(before, now)));
  }
  bool is_group_past(Stamp before, Stamp now, Stamp stale) const {
    return before && is_past(before, now, stale) &&
           (before < barrier_stamp_ || stamp_cells_log2(before) == stamp_cells_log2(now));
  }
  bool group(Page& page, const Now& now, unsigned cell, Stamp stamp) const;
  void one_cell(Page& page, Now& now, unsigned cell, Stamp stamp);
  bool stores_the_same(const Page& page, const Now& now, unsigned cell, Stamp before, Stamp stamp) const;
  void remember_read(Page& page, unsigned cell, Stamp stamp, Stamp stale);
  void compare_reads(Page& page, const Now& now, unsigned cell, Stamp stamp);
  void compare(const Page& page, const Now& now, unsigned cell, Stamp before, Stamp stamp, bool before_wrote);
  void note_load(const Now& now, unsigned thread, unsigned threads, uint32_t pc);
  void note_store(const Now& now, unsigned thread, unsigned threads, uint32_t pc);
  bool sets_what_it_tests(uint32_t store, uint32_t read) const;
  void keep_store(Page& page, const Now& now, unsigned cell, Stamp stamp);
  void compare_with_store(const Page& page, const Now& now, unsigned cell, Stamp before, Stamp stamp);
  void note(const Now& now, uintptr_t address, Stamp stamp, Stamp before, bool before_wrote);
  void note_race(const Now& now, uintptr_t address, Stamp stamp, Stamp before, bool before_wrote);
  uint32_t block_at(uint32_t time) const;  // counts from 0 in block_times_

  // cures.cpp
  std::string cure(bool block_is_complete) const;
  std::string past_the_row(const Now& now, uintptr_t address, Stamp stamp, Stamp before);
  bool touched_before(uintptr_t address, unsigned bytes, Stamp like, uintptr_t pc);

  Shadow& shadow_;
  Publication publication_;

  // The times at which the launch, the block and its current stretch between barriers began, the latter two as stamps
  // too.
  uint32_t time_ = 0, launch_ = 0, block_ = 0, barrier_ = 0;
  Stamp block_stamp_ = 0, barrier_stamp_ = 0;
  std::vector<uint32_t> block_times_;    // of the launch's blocks, each time that one begins or goes on
  std::vector<uint64_t> block_numbers_;  // which it is
  // What blocks did between these two times is ordered before what a block of this cluster does.
  uint32_t cluster_ = 0, cluster_barrier_ = 0;
  bool in_turns_ = false;

  // What the lanes of a warp know of each other: all that was done before `everyone`, and if some lanes have
  // synchronised without the others, what lane `a` knows of `b`: all that it did before known[a][b].
  struct WarpClock {
    uint32_t everyone = 0;
    uint32_t lanes = 0;  // those that there are
    std::vector<std::array<uint32_t, 32>> known;
  };
  std::vector<WarpClock> clocks_;

  // By warp: what it knows of each other warp, all that was done before this time. Empty until there is a meeting.
  using WarpTimes = std::array<uint32_t, 32>;
  std::vector<WarpTimes> of_warps_;
  // What those know who have arrived. Of a meeting's phases the last four: some arrive in later ones before others have
  // left the first.
  struct Phase {
    unsigned number;
    WarpTimes known;
  };
  std::unordered_map<uint64_t, std::array<Phase, 4>> meetings_;

  // By the number of a store's pc: in this launch, each thread that stored there had just read the same element at
  // `read`, and all stored one value. So do searches of a graph: if (level[v] == none) level[v] = this_level.
  struct TestAndSet {
    uint32_t launch = 0, read = 0;
    uint64_t value = 0;
    bool holds = false;
    bool updates = false;  // it held until one that had read the element, too, stored another value: x += 1
  };
  std::vector<TestAndSet> tested_;
  const TestAndSet* tested(uint32_t store) const;
  // By warp and lane: the last plain load of global memory since a barrier of the block.
  struct LastLoads {
    uint32_t barrier = 0;
    std::array<uint32_t, 32> pc{};
    std::array<uintptr_t, 32> address{};
  };
  std::vector<LastLoads> last_loads_;

  std::unordered_map<uintptr_t, uint32_t> pc_numbers_;
  std::vector<uintptr_t> pcs_;
  struct Numbered {
    uintptr_t pc;
    uint32_t number;
  };
  std::array<Numbered, 64> recent_pcs_ = {};

  bool found_ = false;
  uintptr_t raced_ = 0;           // where one thread read and another wrote
  unsigned reader_ = 0;           // the one that read
  bool is_update_ = false;        // it has written there, too: x += 1 by several threads
  bool all_write_there_ = false;  // the two are the same store
  Race race_ = {};
  std::string text_;                                              // its detail but for the cure
  enum class Scope { warp, warps, blocks } scope_ = Scope::warp;  // of the threads that were seen to race
};

}  // namespace simt::checks
