// A block's meetings (include/simt/meeting.h): barriers of some of its threads, with what they bring each other.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "block.h"
#include "cooperative.h"
#include "device_queues.h"

namespace simt {

// Where the kernel calls: the services below are called by it, the functions of Block by them.
#define SIMT_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

void Block::meeting_init(uint64_t key, unsigned expected) {
  Meeting& meeting = meetings_[key];
  meeting = {};
  meeting.expected = meeting.pending = expected;
}

Meeting& Block::find_meeting(uint64_t key, Place place) {
  const auto found = meetings_.find(key);
  if (found == meetings_.end()) fail_no_meeting(index_, current_->index, place);
  return found->second;
}

void Block::complete_phase(Meeting* meeting) {
  meeting->phase++;
  meeting->pending = meeting->expected;
  for (Thread* thread : meeting->waiting) thread->warp->ready |= 1u << thread->lane;
  meeting->waiting.clear();
}

unsigned Block::meeting_arrive(uint64_t key, unsigned count, Place place, uintptr_t caller) {
  Meeting& meeting = find_meeting(key, place);
  if (watcher_) {
    watcher_->meeting_arrive(key, meeting.phase, place, caller);
    watcher_->receive(4);  // the phase: how often others have come
  }
  const unsigned phase = meeting.phase;
  meeting.pending -= count < meeting.pending ? count : meeting.pending;
  if (meeting.pending == 0) complete_phase(&meeting);
  return phase;
}

void Block::meeting_drop(uint64_t key, Place place, uintptr_t caller) {
  Meeting& meeting = find_meeting(key, place);
  if (meeting.expected > 0) meeting.expected--;
  meeting_arrive(key, 1, place, caller);
}

// The one arrival that stands for all bytes is that of whoever makes the sum 0: a phase ends with its last copy.
void Block::meeting_transfer(uint64_t key, int64_t bytes, Place place, uintptr_t caller) {
  Meeting& meeting = find_meeting(key, place);
  const bool awaited = meeting.transfers != 0;
  meeting.transfers += bytes;
  if (awaited && meeting.transfers == 0) {
    meeting_arrive(key, 1, place, caller);
    return;
  }
  if (!awaited && meeting.transfers != 0) meeting.pending++;
  if (watcher_ && bytes < 0) watcher_->meeting_arrive(key, meeting.phase, place, caller);
}

// An address that is no multiple of 16 is found before anything is copied.
void Block::copy_in_bulk(void* to, const void* from, uint32_t bytes, uintptr_t caller) {
  const uint32_t whole = bytes / 16 * 16;
  if (watcher_) watcher_->copy_in_bulk(to, from, whole, caller);
  std::memmove(to, from, whole);
}

// The phase, of which a thread learns no more than whether it is even.
unsigned Block::meeting_of_parity(uint64_t key) {
  if (watcher_) watcher_->receive(1);
  return find_meeting(key, current_->place).phase;
}

bool Block::meeting_is_over(uint64_t key, unsigned phase) {
  const Meeting& meeting = find_meeting(key, current_->place);
  if (watcher_) watcher_->receive(1);
  if (static_cast<int>(meeting.phase - phase) <= 0) return false;
  if (watcher_) watcher_->meeting_left(key, phase);
  return true;
}

void Block::meeting_wait(uint64_t key, unsigned phase, Place place) {
  Meeting& meeting = find_meeting(key, place);
  while (static_cast<int>(meeting.phase - phase) <= 0) {
    meeting.waiting.push_back(current_);
    wait_outside(place);
  }
  if (watcher_) watcher_->meeting_left(key, phase);
}

// Changes with whatever a waiting thread may wait for: arrivals, operations of warps, threads that return.
uint64_t Block::state_of_waiting() const {
  uint64_t state = launch_id_ + alive_ + barrier_turn_ + at_barrier_ + index_.x + (uint64_t{index_.y} << 32) + index_.z;
  for (const auto& [key, meeting] : meetings_)
    state = state * 31 + meeting.phase + meeting.pending + static_cast<uint64_t>(meeting.transfers);
  for (const Warp& warp : warps_)
    for (const Exchange& exchange : warp.exchanges) state = state * 31 + exchange.turn + exchange.arrived;
  return state;
}

// The running thread has asked in vain, and lets the others run. A thread that computes meanwhile is not idle, however
// long it takes: of what lies between two looks at the clock no more than 10 ms counts.
void Block::ask_again(Place place) {
  using namespace std::chrono;
  current_->place = place;
  asking_.lanes.resize(warps_.size());
  asking_.lanes[static_cast<size_t>(current_->warp - warps_.data())] |= 1u << current_->lane;
  if (++asking_.times >= 4096) {
    const auto now = steady_clock::now();
    const uint64_t state = state_of_waiting();
    bool all_ask = state == asking_.state;
    for (size_t w = 0; w < warps_.size(); w++) {
      const Warp& warp = warps_[w];
      all_ask &= ((warp.ready | warp.at_turn | warp.paused) & ~asking_.lanes[w]) == 0;
    }
    asking_.idle = all_ask ? asking_.idle + std::min<steady_clock::duration>(now - asking_.since, 10ms)
                           : steady_clock::duration::zero();
    if (asking_.idle > 2s) report_deadlock();
    asking_.state = state;
    asking_.since = now;
    asking_.times = 0;
    std::fill(asking_.lanes.begin(), asking_.lanes.end(), 0);
  }
  yield();
}

void Block::meeting_put(uint64_t key, unsigned slot, uint64_t value) {
  Meeting& meeting = meetings_[key];
  std::vector<uint64_t>& values = meeting.values[meeting.phase & 1];
  if (slot >= 8 * 1024) return;
  if (values.size() <= slot) values.resize(slot + 1);
  values[slot] = value;
}

uint64_t Block::meeting_get(uint64_t key, unsigned phase, unsigned slot) {
  const std::vector<uint64_t>& values = meetings_[key].values[phase & 1];
  const uint64_t value = slot < values.size() ? values[slot] : 0;
  if (watcher_) watcher_->receive(bytes_of_value(value));
  return value;
}

void meeting_init(uint64_t key, unsigned expected) noexcept { current_block->meeting_init(key, expected); }
void meeting_expect(uint64_t key, unsigned expected) noexcept {
  if (!current_block->has_meeting(key)) current_block->meeting_init(key, expected);
}
unsigned meeting_arrive(uint64_t key, unsigned count, Place place) noexcept {
  return current_block->meeting_arrive(key, count, place, SIMT_CALLER);
}
void meeting_drop(uint64_t key, Place place) noexcept { current_block->meeting_drop(key, place, SIMT_CALLER); }
void meeting_transfer(uint64_t key, int64_t bytes, Place place) noexcept {
  current_block->meeting_transfer(key, bytes, place, SIMT_CALLER);
}
void copy_in_bulk(void* to, const void* from, uint32_t bytes) noexcept {
  current_block->copy_in_bulk(to, from, bytes, SIMT_CALLER);
}
unsigned meeting_of_parity(uint64_t key, bool parity) noexcept {
  const unsigned phase = current_block->meeting_of_parity(key);
  return (phase & 1) == parity ? phase : phase - 1;
}
bool meeting_is_over(uint64_t key, unsigned phase) noexcept { return current_block->meeting_is_over(key, phase); }
bool meeting_ask(uint64_t key, unsigned phase, Place place) noexcept {
  if (current_block->meeting_is_over(key, phase)) return true;
  poll(SIMT_CALLER);
  current_block->ask_again(place);
  return false;
}
void meeting_wait(uint64_t key, unsigned phase, Place place) noexcept {
  current_block->meeting_wait(key, phase, place);
}
unsigned meet(uint64_t key, unsigned count, Place place) noexcept {
  meeting_expect(key, count);
  const unsigned phase = current_block->meeting_arrive(key, 1, place, SIMT_CALLER);
  current_block->meeting_wait(key, phase, place);
  return phase;
}
void meeting_put(uint64_t key, unsigned slot, uint64_t value, unsigned count) noexcept {
  meeting_expect(key, count);
  current_block->meeting_put(key, slot, value);
}
uint64_t meeting_get(uint64_t key, unsigned phase, unsigned slot) noexcept {
  return current_block->meeting_get(key, phase, slot);
}

}  // namespace simt
