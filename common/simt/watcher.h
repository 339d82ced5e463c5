// What looks on while a block runs a kernel: the block tells it what its threads do with each other. The recorder is
// one (instrument/recorder.h); a block knows no more of it than this.
#pragma once

#include <cstdint>
#include <memory>

#include "launch_state.h"

namespace simt {

struct LaneLog;

namespace counters {
struct LaunchCounters;
}

class Watcher {
 public:
  virtual ~Watcher() = default;

  // `counters` may be nullptr: then nothing is counted.
  virtual void begin_launch(const LaunchState& launch, counters::LaunchCounters* counters) = 0;
  virtual void end_launch() = 0;
  virtual void begin_block(uint64_t number, uint3 index) = 0;
  virtual void end_block() = 0;

  // While a block waits for the grid, others run on this OS thread.
  virtual void suspend() = 0;
  virtual void resume() = 0;

  // What this thread of the block does is written here (recording.h).
  virtual LaneLog* lane(unsigned thread) = 0;

  // The running thread's stack begins here: what others have left on it is not there on a GPU.
  virtual void clear_local(uintptr_t begin) = 0;

  // What the running thread does; pc is where it called, `lane` its own.
  virtual void barrier(Place place, uintptr_t pc) = 0;
  virtual void warp_operation(unsigned mask, unsigned lane, Place place, uintptr_t pc) = 0;
  virtual void meeting_arrive(uint64_t key, unsigned phase, Place place, uintptr_t pc) = 0;
  virtual void meeting_left(uint64_t key, unsigned phase) = 0;
  // It starts a copy between global and shared memory, which is about to happen.
  virtual void copy_in_bulk(const void* to, const void* from, unsigned bytes, uintptr_t pc) = 0;
  // It gets so many bytes of another one's without an access of memory.
  virtual void receive(unsigned bytes) = 0;

  // Every thread that was waited for has come.
  virtual void barrier_completed() = 0;
  virtual void warp_operation_completed(unsigned warp, unsigned mask, unsigned arrived) = 0;

  // No lane of the warp can go on. Returns the lanes that can after all, now that what they did has been taken down.
  // With `force`, lanes that have nothing written down hold up nobody.
  virtual uint32_t merge(unsigned warp, uint32_t alive, bool force) = 0;
};

// How many bytes a value takes that one thread hands another: a vote is one.
inline unsigned bytes_of_value(uint64_t value) { return value >> 32 ? 8 : value >> 8 ? 4 : 1; }

// The one there is, for one OS thread.
std::unique_ptr<Watcher> make_watcher();

}  // namespace simt
