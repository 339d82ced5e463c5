#include "resident.h"

#include <algorithm>
#include <cstring>

#include "block.h"
#include "switch.h"

namespace simt {

namespace {

constexpr size_t most_aligned = 128;

// Kept for the next launch, with their stacks: of each OS thread that does a device's work.
std::vector<std::unique_ptr<Block>>& free_blocks() {
  static thread_local auto* blocks = new std::vector<std::unique_ptr<Block>>;
  return *blocks;
}

std::unique_ptr<Block> take_block() {
  std::vector<std::unique_ptr<Block>>& all = free_blocks();
  if (all.empty()) return std::make_unique<Block>();
  std::unique_ptr<Block> block = std::move(all.back());
  all.pop_back();
  return block;
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
    idle_.push_back(blocks_[i]);
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

size_t Residents::first(State of_these) const {
  return static_cast<size_t>(std::find(states_.begin(), states_.end(), of_these) - states_.begin());
}

void Residents::begin(const std::vector<uint64_t>& numbers) {
  states_.assign(numbers.size(), State::not_begun);
  blocks_.assign(numbers.size(), nullptr);
  idle_.clear();
  for (size_t i = 0; i < numbers.size(); i++) start(i, numbers[i]);
}

void Residents::add(uint64_t number) {
  states_.push_back(State::not_begun);
  blocks_.push_back(nullptr);
  start(states_.size() - 1, number);
}

void Residents::start(size_t i, uint64_t number) {
  poison_(launch_->config.shared_bytes);
  if (idle_.empty()) {
    used_.push_back(take_block());
    used_.back()->begin_launch(*launch_, launch_->record, launch_->counters);
    idle_.push_back(used_.back().get());
  }
  blocks_[i] = idle_.back();
  idle_.pop_back();
  turn(i, [&] { return blocks_[i]->run(*launch_, number); });
}

void Residents::adopt(Block* block) {
  states_.push_back(State::waits_for_turn);
  blocks_.push_back(block);
  saved(states_.size() - 1).save();
}

size_t Residents::waiting() const {
  return states_.size() - static_cast<size_t>(std::count(states_.begin(), states_.end(), State::ended));
}

bool Residents::go_on(const std::function<void()>& all_wait) {
  bool any = resume_all(State::waits_for_turn);
  while (first(State::waits_for_turn) == count() && first(State::waits) < count()) {
    running_ = first(State::waits);
    current_block = blocks_[running_];
    all_wait();
    current_block = nullptr;
    any = resume_all(State::waits);
  }
  return any;
}

void Residents::end() {
  for (std::unique_ptr<Block>& block : used_) {
    block->end_launch();
    free_blocks().push_back(std::move(block));
  }
  used_.clear();
}

void Residents::run(const std::vector<uint64_t>& numbers, const std::function<void()>& all_wait) {
  begin(numbers);
  while (go_on(all_wait)) continue;
  end();
}

void forget_resident_blocks() { free_blocks().clear(); }

void run_in_turns(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes)) {
  Residents residents(launch, static_shared, poison);
  const uint64_t blocks = launch->blocks_to_run(), at_once = launch->resident_blocks();
  for (uint64_t first = 0; first < blocks; first += at_once) {
    std::vector<uint64_t> numbers;
    for (uint64_t i = first; i < std::min(blocks, first + at_once); i++) numbers.push_back(launch->block_to_run(i));
    residents.run(numbers, [] {});
  }
  forget_resident_blocks();  // there may be too many for the next launch, with larger blocks
}

}  // namespace simt
