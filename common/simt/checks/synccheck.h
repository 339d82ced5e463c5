// synccheck: synchronisation that CUDA leaves undefined. (A barrier or a mask that waits for ever is a deadlock, which
// the executor reports by itself.)
#pragma once

#include <vector>

#include "observer.h"

namespace simt::checks {

class Synccheck {
 public:
  void block_begin() { arrived_.clear(); }

  // Threads of one barrier must have come to the same call.
  void barrier_arrive(const ThreadId& thread, Place place);
  void barrier_complete(const BlockInfo& block);

  // The caller of a warp operation must be in its mask; this one is not.
  void caller_outside(const ThreadId& thread, unsigned mask, Place place);

  // A lane reads what lane `source` brought: that lane must be in the mask.
  void shuffle_source(const ThreadId& thread, unsigned mask, unsigned source, Place place);

 private:
  struct Group {
    Place place;
    ThreadId first;
    unsigned count;
  };
  std::vector<Group> arrived_;
};

}  // namespace simt::checks
