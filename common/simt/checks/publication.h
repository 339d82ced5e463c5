// What atomics order. An atomic publishes what its block did before its last __threadfence(); a thread that later does
// an atomic on the same address has seen it, and the rest of its block sees it after a barrier. So the last block of a
// grid, found by a counter, may read what the others wrote. Within a block no fence is asked for.
//
// Blocks run one after the other: a release of another block is always earlier than all that this block does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace simt::checks {

class Publication {
 public:
  void launch_begin();
  void block_begin(uint32_t number);

  // Times rise. `barrier` is that of the block's last barrier.
  void fence(uint32_t time) { fence_ = time; }
  void atomic(uintptr_t address, unsigned thread, uint32_t time, uint32_t barrier);

  // Has this block done an atomic?
  bool has_atomics() const { return !mine_.empty(); }

  // Has a thread of this block seen what another one of it did at `time`?
  // Not by atomics on the address `but`.
  bool orders_threads(unsigned before, uint32_t time, unsigned now, uintptr_t but) const;

  // Has a thread of this block seen what a thread of an earlier block did at `time`? has_synchronised(thread, time): is
  // what `thread` did at `time` ordered before what this thread does now, by a barrier or by its warp?
  template <typename HasSynchronised>
  bool orders_blocks(uint32_t block, unsigned before, uint32_t time, unsigned now, uintptr_t but,
                     HasSynchronised has_synchronised) const {
    for (const auto& [address, mine] : mine_) {
      if (address == but || !is_released(address, block, before, time)) continue;
      if (has_synchronised(mine.first_thread, mine.first) || mine.precede(now, has_synchronised)) return true;
    }
    return false;
  }

  // Has the thread looked at the address by an atomic, or another one of the block before a barrier? Then it has seen
  // the atomics of earlier blocks there: a store that follows comes after them.
  template <typename HasSynchronised>
  bool has_asked(uintptr_t address, unsigned now, HasSynchronised has_synchronised) const {
    const auto mine = mine_.find(address);
    return mine != mine_.end() && mine->second.precede(now, has_synchronised);
  }

 private:
  // The running block's atomics on an address: the first, and the last of each thread.
  struct Atomics {
    unsigned first_thread;
    uint32_t first;
    std::unordered_map<unsigned, uint32_t> last;

    // Has thread `now` done one, or has it seen the last one of another thread?
    template <typename HasSynchronised>
    bool precede(unsigned now, HasSynchronised has_synchronised) const {
      return last.count(now) || std::any_of(last.begin(), last.end(),
                                            [&](const auto& one) { return has_synchronised(one.first, one.second); });
    }
  };
  // A block's last atomic on an address, if it had called __threadfence().
  struct Release {
    unsigned thread;
    bool several;             // different threads of the block did so
    uint32_t fence, barrier;  // the last ones before it
  };

  bool is_released(uintptr_t address, uint32_t block, unsigned before, uint32_t time) const;

  std::unordered_map<uintptr_t, std::unordered_map<uint32_t, Release>> releases_;  // by address and block
  std::unordered_map<uintptr_t, Atomics> mine_;
  uint32_t block_ = 0, fence_ = 0;
};

}  // namespace simt::checks
