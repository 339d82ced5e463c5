#include "resident.h"

#include <algorithm>
#include <cstring>

#include "block.h"
#include "switch.h"

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

// No thread can run. The other blocks go on, if one waits for that; then it is the first that can.
Thread* Block::next_turn() {
  if (!at_turn_) report_deadlock();
  simt_switch(&current_->context, caller_);
  const auto warp = std::find_if(warps_.begin(), warps_.end(), [](const Warp& w) { return w.ready; });
  return &warp->threads[__builtin_ctz(warp->ready)];
}

void Block::wait_for_turn() {
  current_->warp->at_turn |= 1u << current_->lane;
  at_turn_++;
  wait_outside(current_->place);
}

void Block::begin_turn() {
  for (Warp& warp : warps_) {
    warp.ready |= warp.at_turn;
    warp.at_turn = 0;
  }
  at_turn_ = 0;
}

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
  states_[i] = blocks_[i]->waits_for_turn() ? State::waits_for_turn : State::waits;
  saved(i).save();
}

// Whether there were any.
bool Residents::resume_all(State those) {
  bool any = false;
  for (size_t i = 0; i < states_.size(); i++) {
    if (states_[i] != those) continue;
    any = true;
    saved(i).restore();
    turn(i, [&] { return blocks_[i]->resume(); });
  }
  return any;
}

void Residents::run(const std::vector<uint64_t>& numbers, const std::function<void()>& all_wait) {
  std::vector<std::unique_ptr<Block>>& all = resident_blocks();
  states_.assign(numbers.size(), State::not_begun);
  blocks_.clear();
  size_t used = 0;
  for (size_t i = 0; i < numbers.size(); i++) {
    poison_(launch_->config.shared_bytes);
    const bool free = i > 0 && states_[i - 1] == State::ended;
    if (!free && used == all.size()) all.push_back(std::make_unique<Block>());
    blocks_.push_back(free ? blocks_.back() : all[used].get());
    if (!free) all[used++]->begin_launch(*launch_, launch_->record, launch_->counters);
    turn(i, [&] { return blocks_[i]->run(*launch_, numbers[i]); });
  }
  for (;;) {
    if (resume_all(State::waits_for_turn)) continue;
    const auto waits = std::find(states_.begin(), states_.end(), State::waits);
    if (waits == states_.end()) break;
    running_ = static_cast<size_t>(waits - states_.begin());
    current_block = blocks_[running_];
    all_wait();
    current_block = nullptr;
    resume_all(State::waits);
  }
  for (size_t i = 0; i < used; i++) all[i]->end_launch();
}

void run_in_turns(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes)) {
  Residents residents(launch, static_shared, poison);
  const uint64_t blocks = launch->blocks_to_run(), at_once = launch->resident_blocks();
  for (uint64_t first = 0; first < blocks; first += at_once) {
    std::vector<uint64_t> numbers;
    for (uint64_t i = first; i < std::min(blocks, first + at_once); i++) numbers.push_back(launch->block_to_run(i));
    residents.run(numbers, [] {});
  }
  resident_blocks().clear();  // there may be too many for the next launch, with larger blocks
}

}  // namespace simt
