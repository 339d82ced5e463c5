#include "racecheck.h"

#include "report.h"

namespace simt::checks {

void Racecheck::launch_begin() {
  launches_++;
  sequence_ = 0;
  anchor_ = 0;
  block_atomics_.clear();
  block_index_.clear();
}

void Racecheck::block_begin(const BlockInfo& block) {
  blocks_++;
  epoch_ = 0;
  thread_atomics_.clear();
  block_index_[static_cast<uint32_t>(block.number)] = block.index;
  // A lane starts ahead of what the others know of it.
  clocks_.assign(block.threads, {});
  for (unsigned thread = 0; thread < block.threads; thread++) clocks_[thread][thread % 32] = 1;
}

void Racecheck::warp_complete(unsigned warp, unsigned arrived) {
  LaneClocks joined = {};
  for (unsigned lanes = arrived; lanes; lanes &= lanes - 1) {
    const LaneClocks& known = clocks_[warp * 32 + __builtin_ctz(lanes)];
    for (unsigned lane = 0; lane < 32; lane++) joined[lane] = max(joined[lane], known[lane]);
  }
  for (unsigned lanes = arrived; lanes; lanes &= lanes - 1) {
    const unsigned lane = __builtin_ctz(lanes);
    clocks_[warp * 32 + lane] = joined;
    clocks_[warp * 32 + lane][lane]++;
  }
}

bool Racecheck::is_ordered(const Stamp& before, const Stamp& now) const {
  if (before.block == now.block) {
    if (before.thread == now.thread || before.epoch < now.epoch) return true;
    if (before.thread / 32 == now.thread / 32 && clocks_[now.thread][before.thread % 32] >= before.lane_clock)
      return true;
  }
  return sequence_ > 0 && atomics_order(before, now);
}

bool Racecheck::atomics_order(const Stamp& before, const Stamp& now) const {
  const bool same_block = before.block == now.block;
  const uint32_t releaser = same_block ? before.thread : before.block, acquirer = same_block ? now.thread : now.block;
  for (const auto& [address, last] : same_block ? thread_atomics_ : block_atomics_) {
    const auto released = last.find(releaser), acquired = last.find(acquirer);
    if (released == last.end() || acquired == last.end()) continue;
    if (released->second > before.sequence && acquired->second > released->second) return true;
  }
  return false;
}

void Racecheck::access(const BlockInfo& block, const ThreadId& thread, const Access& access) {
  if (access.space == AddressSpace::other || access.space == AddressSpace::local) return;
  if (anchor_ == 0) anchor_ = access.pc;
  if (access.kind == AccessKind::atomic) {
    sequence_++;
    thread_atomics_[access.address][thread.number] = sequence_;
    block_atomics_[access.address][static_cast<uint32_t>(block.number)] = sequence_;
  }
  Stamp now;
  now.block = static_cast<uint32_t>(block.number);
  now.thread = static_cast<uint16_t>(thread.number);
  now.lane_clock = clocks_[thread.number][thread.number % 32];
  now.epoch = epoch_;
  now.sequence = sequence_;
  now.pc = static_cast<int32_t>(access.pc - anchor_);
  now.atomic = access.kind == AccessKind::atomic;
  for_each_word(access.address, access.bytes, [&](uintptr_t word, unsigned mask) {
    now.bytes = static_cast<uint8_t>(mask);
    visit(block, thread, access, word, now);
  });
}

void Racecheck::visit(const BlockInfo& block, const ThreadId& thread, const Access& access, uintptr_t word,
                      const Stamp& now) {
  const bool is_global = access.space == AddressSpace::global;
  Cell& cell = (is_global ? global_ : shared_).at(word);
  const uint64_t serial = is_global ? launches_ : blocks_;
  if (cell.serial != serial) cell = {serial, {}, {}};

  const auto conflicts = [&](const Stamp& before) {
    return (before.bytes & now.bytes) && !(before.atomic && now.atomic) && !is_ordered(before, now);
  };
  if (cell.write.bytes && conflicts(cell.write)) report_race(block, thread, access, word, cell.write, true);
  if (access.kind == AccessKind::load) {
    const Stamp last = cell.reads[0];
    const bool same_warp = last.block == now.block && last.thread / 32 == now.thread / 32;
    if (!same_warp) cell.reads[2] = last;
    if (!same_warp || last.thread != now.thread) cell.reads[1] = last;
    cell.reads[0] = now;
    return;
  }
  for (const Stamp& read : cell.reads) {
    if (read.bytes && conflicts(read)) report_race(block, thread, access, word, read, false);
  }
  // Bytes that another access wrote and this one does not keep their stamp as far as it fits: the wider one stays.
  if (!(cell.write.bytes & ~now.bytes)) cell.write = now;
  for (Stamp& read : cell.reads) read = {};
}

void Racecheck::report_race(const BlockInfo& block, const ThreadId& thread, const Access& access, uintptr_t word,
                            const Stamp& before, bool before_wrote) {
  const bool is_global = access.space == AddressSpace::global;
  const char* const now_does = access.kind == AccessKind::load    ? "reads"
                               : access.kind == AccessKind::store ? "writes"
                                                                  : "updates";
  const dim3 shape = blockDim;
  const uint3 other = {before.thread % shape.x, before.thread / shape.x % shape.y, before.thread / shape.x / shape.y};
  const bool same_block = before.block == block.number;

  std::string text = std::string("it ") + now_does + " " + describe(block, access.space, word) + " at " +
                     line_of(access.pc) + ";\n" + name_of(other);
  if (!same_block) {
    const uint3 index = block_index_[before.block];
    text +=
        " of block (" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
  }
  text += std::string(before.atomic  ? " updated"
                      : before_wrote ? " wrote"
                                     : " read") +
          " the same bytes at " + line_of(anchor_ + static_cast<uintptr_t>(static_cast<intptr_t>(before.pc))) +
          ", and nothing orders the two.\n";
  if (!same_block) {
    text += "Blocks run in any order: give each its own memory, or use an atomic.";
  } else if (before.thread / 32 == thread.number / 32) {
    text += "Usually mended by __syncwarp() or __syncthreads() between the two lines.";
  } else {
    text +=
        "Usually mended by a __syncthreads() between the two lines that all threads reach: not in a branch, and in a "
        "loop "
        "also from one round to the next.";
  }
  report(is_global ? "racecheck: race in global memory" : "racecheck: race in shared memory", thread, access.pc, text);
}

}  // namespace simt::checks
