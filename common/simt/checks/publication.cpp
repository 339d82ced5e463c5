#include "publication.h"

namespace simt::checks {

void Publication::launch_begin() { releases_.clear(); }

void Publication::block_begin(uint32_t number) {
  block_ = number;
  fence_ = 0;
  mine_.clear();
}

void Publication::atomic(uintptr_t address, unsigned thread, uint32_t time, uint32_t barrier) {
  const auto [mine, is_first] = mine_.try_emplace(address, Atomics{thread, time, {}});
  mine->second.last[thread] = time;
  if (!fence_) return;
  const auto [release, is_new] = releases_[address].try_emplace(block_, Release{thread, false, fence_, barrier});
  if (is_new) return;
  Release& last = release->second;
  last = {thread, last.several || last.thread != thread, fence_, barrier};
}

bool Publication::orders_threads(unsigned before, uint32_t time, unsigned now, uintptr_t but) const {
  for (const auto& [address, mine] : mine_) {
    if (address == but) continue;
    const auto released = mine.last.find(before), acquired = mine.last.find(now);
    if (released == mine.last.end() || acquired == mine.last.end()) continue;
    if (released->second > time && acquired->second > released->second) return true;
  }
  return false;
}

// Of a block in which several threads did the atomic only the last is known: it stands for all of them.
bool Publication::is_released(uintptr_t address, uint32_t block, unsigned before, uint32_t time) const {
  const auto blocks = releases_.find(address);
  if (blocks == releases_.end()) return false;
  const auto found = blocks->second.find(block);
  if (found == blocks->second.end()) return false;
  const Release& release = found->second;
  return time < release.fence && (release.several || release.thread / 32 == before / 32 || time < release.barrier);
}

}  // namespace simt::checks
