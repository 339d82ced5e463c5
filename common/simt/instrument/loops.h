// Where loops end. A jump backwards begins a loop's next round; the loop's end is the furthest point from which a
// thread of this block has jumped back to the same place. Kept for a block at a time, so that results do not depend on
// which OS thread runs which blocks.
#pragma once

#include <cstdint>
#include <cstring>

namespace simt {

class Loops {
 public:
  void clear() { std::memset(entries_, 0, sizeof entries_); }

  // A thread jumped back from `from` to `target`.
  void saw(uint32_t target, uint32_t from) {
    Entry* entry = find(target);
    if (entry && entry->end < from) *entry = {target, from};
  }

  // The end of the loop that a jump from `from` to `target` repeats.
  uint32_t end(uint32_t target, uint32_t from) {
    const Entry* entry = find(target);
    return entry && entry->target == target && entry->end > from ? entry->end : from;
  }

 private:
  struct Entry {
    uint32_t target, end;  // target 0: free
  };
  static constexpr unsigned count = 128;

  // nullptr if the table is full: then jumps to this target end the loop where they are.
  Entry* find(uint32_t target) {
    for (unsigned i = 0, slot = target * 2654435769u >> 25; i < count; i++, slot = (slot + 1) % count) {
      if (entries_[slot].target == target || entries_[slot].target == 0) return &entries_[slot];
    }
    return nullptr;
  }

  Entry entries_[count] = {};
};

}  // namespace simt
