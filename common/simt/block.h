// One block of threads on one OS thread: a fiber for each CUDA thread, its barriers and its warps.
//
// A thread runs until it must wait for others; then the next one that can go on runs, first in its own warp. A thread
// that never waits needs no stack of its own: when it ends, the next one starts on the same stack.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "launch_state.h"
#include "memory.h"
#include "stacks.h"
#include "watcher.h"

namespace simt {

struct Exchange;
struct Warp;

struct Thread {
  void* context;  // where it waits; nullptr before it has started
  void* stack;
  Allocation local;  // its local memory: the part of the stack that the kernel's own frames use
  Warp* warp;
  unsigned lane;
  uint3 index;
  Place place;     // what it waits in
  unsigned mask;   // the lanes it waits for, in a warp operation
  LaneLog* log;    // what it did, if that is recorded
  Exchange* held;  // whose values it may still read
  bool carry;      // inline PTX's flag
};

// A warp operation on one mask. Lanes that are done with it may bring their next values while slow lanes still read the
// last ones, hence two sets of values, taken in turn.
struct Exchange {
  unsigned mask = 0;
  unsigned arrived = 0;  // lanes that have brought a value and wait for the others
  unsigned unread = 0;   // lanes that were released and have begun no other operation since
  unsigned turn = 0;     // operations completed
  unsigned came[2];      // lanes that brought these values; the others had returned
  uint64_t values[2][32];
  // Of these values, what was asked last: which lanes of a mask brought a value. All lanes ask the same of a vote.
  struct Answer {
    bool known = false;
    unsigned mask = 0, lanes = 0;
    uint64_t value = 0;
  } answers[2];
};

struct Warp {
  Thread* threads;
  unsigned alive;          // lanes that have not returned
  unsigned ready;          // lanes that can run, the running one included
  unsigned at_barrier;     // lanes that wait for the block
  unsigned at_activemask;  // lanes that wait to learn who else is here
  unsigned paused;         // lanes that have recorded so much that the others must catch up first
  unsigned at_turn;        // lanes that wait for the block's next turn
  std::vector<Exchange> exchanges;
};

// Threads that ask again and again whether a phase is over. If for long nothing else happens in the block, it never is.
struct Asking {
  std::vector<unsigned> lanes;  // of each warp, those that have asked since `since`
  unsigned times = 0;
  std::chrono::steady_clock::time_point since;
  std::chrono::steady_clock::duration idle = {};
  uint64_t state = 0;  // of the block at `since`
};

// A barrier of some of the block's threads.
struct Meeting {
  unsigned expected = 0, pending = 0, phase = 0;
  int64_t transfers = 0;  // bytes that are expected less those that came; while not 0, one more arrival is awaited
  std::vector<uint64_t> values[2];  // what the threads bring, of this phase and the one before
  std::vector<Thread*> waiting;
};

class Block {
 public:
  // Before and after this OS thread runs blocks of a launch. With `record`, the accesses of instrumented code are
  // counted (if there are counters) and shown to the observer (if there is one).
  void begin_launch(const LaunchState& launch, bool record, counters::LaunchCounters* counters);
  void end_launch();

  // Runs every thread of block `number` of the launch to its end, or until all of them wait for the grid or for the
  // block's next turn; then resume() goes on. True when it has come to its end.
  bool run(const LaunchState& launch, uint64_t number);
  bool resume();
  bool waits_for_turn() const { return at_turn_ > 0; }

  // Called by the running thread.
  Votes barrier(int predicate, Place place);
  Exchanged exchange(unsigned mask, uint64_t value, Place place);
  unsigned active_lanes(Place place);
  void yield();
  void wait_for_turn();
  void grid_barrier(Place place);
  void add_child(const LaunchConfig& config, const BoundKernel& kernel);

  // Of meetings (meetings.cpp). `caller` is where the kernel calls.
  void meeting_init(uint64_t key, unsigned expected);
  unsigned meeting_arrive(uint64_t key, unsigned count, Place place, uintptr_t caller);
  void meeting_drop(uint64_t key, Place place, uintptr_t caller);
  void meeting_transfer(uint64_t key, int64_t bytes, Place place, uintptr_t caller);
  void copy_in_bulk(void* to, const void* from, uint32_t bytes, uintptr_t caller);
  bool has_meeting(uint64_t key) const { return meetings_.count(key); }
  unsigned meeting_of_parity(uint64_t key);
  bool meeting_is_over(uint64_t key, unsigned phase);
  void meeting_wait(uint64_t key, unsigned phase, Place place);
  void ask_again(Place place);
  void meeting_put(uint64_t key, unsigned slot, uint64_t value);
  uint64_t meeting_get(uint64_t key, unsigned phase, unsigned slot);

  // The running thread waits until its warp has caught up with it.
  void pause();

  const Thread* running() const { return current_; }
  bool& carry_flag() { return current_->carry; }
  uint3 index() const { return index_; }
  const LaunchState& launch() const { return *launch_; }
  const void* kernel_code() const { return reinterpret_cast<const void*>(launch_->kernel.run); }
  const Stacks& stacks() const { return stacks_; }

  // The 32 lanes of a warp (the last may have fewer), counted from 0.
  const Thread* lanes_of(unsigned warp) const { return warps_[warp].threads; }

  const Thread& thread_at(uint3 index) const {
    const dim3 shape = launch_->config.block;
    return threads_[(index.z * shape.y + index.y) * shape.x + index.x];
  }

  // The thread whose stack holds this address; nullptr if there is none.
  const Thread* owner_of(uintptr_t stack_address) const;

 private:
  static void stack_main();
  void give_stack(Thread* thread, void* stack);
  void set_up(const LaunchState& launch);
  bool stopped();
  Thread* next_turn();
  void begin_turn();
  Thread* next(Warp* first, unsigned after_lane);
  void set_running(Thread* thread);
  void switch_to(Thread* thread);
  void wait(Place place);
  void wait_outside(Place place);
  void warp_stopped(Warp* warp);
  void merge_records(Warp* warp, bool force);
  void complete_barrier();
  void complete_exchange(Warp* warp, Exchange* exchange);
  void answer_activemask(Warp* warp);
  void retire(Thread* thread);
  Exchange* find_exchange(Warp* warp, unsigned mask);
  Exchange* new_exchange(Warp* warp, unsigned mask);
  Meeting& find_meeting(uint64_t key, Place place);
  void complete_phase(Meeting* meeting);
  uint64_t state_of_waiting() const;
  [[noreturn]] void report_deadlock();

  const LaunchState* launch_ = nullptr;
  uint64_t launch_id_ = 0;
  uint3 index_ = {};
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Stacks stacks_;
  Thread* current_ = nullptr;
  Watcher* watcher_ = nullptr;  // of the launch, if it is recorded
  std::unique_ptr<Watcher> own_watcher_;
  void* caller_ = nullptr;  // where run() waits

  std::unordered_map<uint64_t, Meeting> meetings_;
  Asking asking_;

  bool for_grid_ = false;  // the barrier that gathers is the grid's
  unsigned alive_ = 0, at_barrier_ = 0, at_turn_ = 0;
  unsigned barrier_turn_ = 0;  // barriers completed; votes of the next one gather while late threads read the last
  Votes votes_[2] = {};
};

// The block that this OS thread runs, or nullptr.
extern __thread Block* current_block;

const char* name_of(Call call);

}  // namespace simt
