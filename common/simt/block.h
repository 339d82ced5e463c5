// One block of threads on one OS thread: a fiber for each CUDA thread, its barriers and its warps.
//
// A thread runs until it must wait for others; then the next one that can go on runs, first in its own warp. A thread
// that never waits needs no stack of its own: when it ends, the next one starts on the same stack.
#pragma once

#include <cstdint>
#include <vector>

#include "launch_state.h"
#include "stacks.h"

namespace simt {

struct Warp;

struct Thread {
  void* context;  // where it waits; nullptr before it has started
  void* stack;
  Warp* warp;
  unsigned lane;
  uint3 index;
  Place place;    // what it waits in
  unsigned mask;  // the lanes it waits for, in a warp operation
};

// A warp operation on one mask. Lanes that are done with it may bring their next values while slow lanes still read the
// last ones, hence two sets of values, taken in turn.
struct Exchange {
  unsigned mask = 0;
  unsigned arrived = 0;  // lanes that have brought a value and wait for the others
  unsigned unread = 0;   // lanes that were released and have not run since
  unsigned turn = 0;     // operations completed
  uint64_t values[2][32];
};

struct Warp {
  Thread* threads;
  unsigned alive;          // lanes that have not returned
  unsigned ready;          // lanes that can run, the running one included
  unsigned at_barrier;     // lanes that wait for the block
  unsigned at_activemask;  // lanes that wait to learn who else is here
  std::vector<Exchange> exchanges;
};

class Block {
 public:
  // Runs every thread of block `index` of the launch to its end.
  void run(const LaunchState& launch, uint3 index);

  // Called by the running thread.
  Votes barrier(int predicate, Place place);
  Exchanged exchange(unsigned mask, uint64_t value, Place place);
  unsigned active_lanes(Place place);
  void yield();

  const Thread* running() const { return current_; }
  uint3 index() const { return index_; }
  const Stacks& stacks() const { return stacks_; }

 private:
  static void stack_main();
  void set_up(const LaunchState& launch);
  Thread* next(Warp* first, unsigned after_lane);
  void switch_to(Thread* thread);
  void wait(Place place);
  void complete_barrier();
  void complete_exchange(Warp* warp, Exchange* exchange);
  void answer_activemask(Warp* warp);
  void retire(Thread* thread);
  Exchange* find_exchange(Warp* warp, unsigned mask);
  Exchange* new_exchange(Warp* warp, unsigned mask);
  [[noreturn]] void report_deadlock();

  const LaunchState* launch_ = nullptr;
  uint64_t launch_id_ = 0;
  uint3 index_ = {};
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Stacks stacks_;
  Thread* current_ = nullptr;
  void* caller_ = nullptr;  // where run() waits

  unsigned alive_ = 0, at_barrier_ = 0;
  unsigned barrier_turn_ = 0;  // barriers completed; votes of the next one gather while late threads read the last
  Votes votes_[2] = {};
};

// The block that this OS thread runs, or nullptr.
extern __thread Block* current_block;

const char* name_of(Call call);

}  // namespace simt
