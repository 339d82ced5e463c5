#include "resident.h"

#include <algorithm>
#include <cstring>

#include "block.h"

namespace simt {

namespace {

constexpr size_t most_aligned = 128;

// Kept for the next launch, with their stacks: of each OS thread that does a device's work.
std::vector<std::unique_ptr<Block>>& resident_blocks() {
  static thread_local auto* blocks = new std::vector<std::unique_ptr<Block>>;
  return *blocks;
}

uintptr_t translated(uintptr_t address, uintptr_t from, uintptr_t to, size_t bytes) {
  return address - from < bytes ? to + (address - from) : 0;
}

}  // namespace

// The module's thread-local variables, but of the executor's array of dynamic shared memory, which may be among them,
// only the part that the launch uses.
SavedShared::SavedShared(const ModuleTls& tls, size_t dynamic_bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(tls.begin), end = begin + tls.bytes;
  const auto dynamic = reinterpret_cast<uintptr_t>(simt_dynamic_shared);
  if (tls.contains(simt_dynamic_shared)) {
    const uintptr_t after = dynamic + max_shared_bytes;
    ranges_ = {{begin, 0, dynamic - begin}, {dynamic, 0, dynamic_bytes}, {after, 0, end - after}};
  } else {
    ranges_ = {{begin, 0, end - begin}, {dynamic, 0, dynamic_bytes}};
  }
  size_t room = most_aligned;
  for (const Range& range : ranges_) room += range.bytes + 2 * most_aligned;
  copy_.resize(room);
  begin_ = reinterpret_cast<uintptr_t>(copy_.data());
  begin_ += most_aligned - begin_ % most_aligned;
  uintptr_t to = begin_;
  for (Range& range : ranges_) {
    range.saved = to + range.shared % most_aligned;
    to = range.saved + range.bytes + most_aligned;
    to -= to % most_aligned;
  }
  bytes_ = to - begin_;
}

void SavedShared::save() {
  for (const Range& range : ranges_)
    std::memcpy(reinterpret_cast<void*>(range.saved), reinterpret_cast<const void*>(range.shared), range.bytes);
}

void SavedShared::restore() const {
  for (const Range& range : ranges_)
    std::memcpy(reinterpret_cast<void*>(range.shared), reinterpret_cast<const void*>(range.saved), range.bytes);
}

uintptr_t SavedShared::saved(uintptr_t shared) const {
  for (const Range& range : ranges_) {
    if (const uintptr_t found = translated(shared, range.shared, range.saved, range.bytes)) return found;
  }
  return 0;
}

uintptr_t SavedShared::shared(uintptr_t saved) const {
  for (const Range& range : ranges_) {
    if (const uintptr_t found = translated(saved, range.saved, range.shared, range.bytes)) return found;
  }
  return 0;
}

Residents::Residents(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes))
    : launch_(launch), static_shared_(static_shared), poison_(poison) {}

SavedShared& Residents::saved(size_t i) {
  if (saved_.size() <= i) saved_.resize(i + 1);
  if (!saved_[i]) saved_[i] = std::make_unique<SavedShared>(static_shared_, launch_->config.shared_bytes);
  return *saved_[i];
}

// `go` lets the block run, and says whether it has come to its end.
void Residents::turn(size_t i, const std::function<bool()>& go) {
  states_[i] = State::running;
  running_ = i;
  if (go()) {
    states_[i] = State::ended;
    return;
  }
  states_[i] = State::waits;
  saved(i).save();
}

void Residents::run(const std::vector<uint64_t>& numbers, const std::function<void()>& all_wait) {
  std::vector<std::unique_ptr<Block>>& blocks = resident_blocks();
  while (blocks.size() < numbers.size()) blocks.push_back(std::make_unique<Block>());
  states_.assign(numbers.size(), State::not_begun);
  for (size_t i = 0; i < numbers.size(); i++) {
    poison_(launch_->config.shared_bytes);
    blocks[i]->begin_launch(*launch_, launch_->record, launch_->counters);
    turn(i, [&] { return blocks[i]->run(*launch_, numbers[i]); });
  }
  while (std::count(states_.begin(), states_.end(), State::waits)) {
    running_ = static_cast<size_t>(std::find(states_.begin(), states_.end(), State::waits) - states_.begin());
    current_block = blocks[running_].get();
    all_wait();
    current_block = nullptr;
    for (size_t i = 0; i < numbers.size(); i++) {
      if (states_[i] != State::waits) continue;
      saved(i).restore();
      turn(i, [&] { return blocks[i]->resume(); });
    }
  }
  for (size_t i = 0; i < numbers.size(); i++) blocks[i]->end_launch();
}

}  // namespace simt
