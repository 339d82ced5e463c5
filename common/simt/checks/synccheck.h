// synccheck: synchronisation that CUDA leaves undefined. (What waits for ever the executor
// reports by itself: deadlock.cpp.)
#pragma once

#include <string>
#include <vector>

#include "observer.h"

namespace simt {
struct Thread;
}

namespace simt::checks {

class Synccheck {
 public:
  void block_begin() { arrived_.clear(); }

  // Threads of one barrier must have come to the same call.
  void barrier_arrive(const ThreadId& thread, Place place);
  void barrier_complete(const BlockInfo& block);

  // Of the first barrier that was complete although some threads of the block had returned before it; empty if there
  // was none. A GPU goes on there, too, so it is no finding. But CUDA allows a barrier in a branch only if all threads
  // of the block take it, and who looks for the reason of a wrong result wants to know.
  std::string remark;

  // The caller of a warp operation must be in its mask; this one is not.
  void caller_outside(const ThreadId& thread, unsigned mask, Place place);

  // Lanes of one mask must have come to the same operation. `lanes`: the 32 of the warp.
  void warp_complete(const BlockInfo& block, const Thread* lanes, unsigned arrived);

  // A lane reads in a shuffle what lane `source` brought: that lane must be in the mask, and among those that `came`.
  void shuffle_source(const ThreadId& thread, unsigned block_threads, unsigned mask, unsigned came, unsigned source,
                      Place place);

 private:
  struct Group {
    Place place;
    ThreadId first;
    unsigned count;
  };
  std::vector<Group> arrived_;
};

}  // namespace simt::checks
