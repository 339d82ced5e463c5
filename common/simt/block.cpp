#include "block.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "device_queues.h"
#include "recording.h"
#include "switch.h"

extern "C" {
// A program's shared variables lie before these in the main program's thread-local memory. The gaps, on both sides
// because the compiler chooses the order, keep an index that is a little too large from hitting them.
__thread unsigned char simt_gap_before[1024];
__thread uint3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;
__thread unsigned char simt_gap_after[1024];
__thread __attribute__((aligned(128))) unsigned char simt_dynamic_shared[simt::max_shared_bytes];
}

namespace simt {

namespace {
constexpr uint64_t max_guarded_threads = 8192;  // resident at once
}

__thread Block* current_block = nullptr;

// The functions between a kernel's call and the switch are made one: each return after a switch costs.
#define SIMT_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define SIMT_INLINE inline __attribute__((always_inline))

SIMT_INLINE void Block::set_running(Thread* thread) {
  current_ = thread;
  simt_threadIdx = thread->index;
  if (watcher_) {
    recording.lane = thread->log;
    simt_local = thread->local;
  }
}

// `stack` is one that no other thread uses.
SIMT_INLINE void Block::give_stack(Thread* thread, void* stack) {
  thread->stack = stack;
  const uintptr_t bottom = stacks_.bottom(stack) + Stacks::reserve_bytes;
  thread->local = {bottom, reinterpret_cast<uintptr_t>(stack) - bottom};
}

SIMT_INLINE void Block::switch_to(Thread* thread) {
  Thread* const self = current_;
  if (thread == self) return;
  if (!thread->context) {
    give_stack(thread, stacks_.take());
    thread->context = make_fiber(thread->stack, stack_main);
  }
  set_running(thread);
  simt_switch(&self->context, thread->context);
}

// The next thread that can run: later lanes of the warp, then earlier ones, then the other warps in turn.
SIMT_INLINE Thread* Block::next(Warp* first, unsigned after_lane) {
  Warp* warp = first;
  do {
    if (warp->ready) {
      const unsigned later = warp == first && after_lane < 31 ? warp->ready & full_mask << (after_lane + 1) : 0;
      return &warp->threads[__builtin_ctz(later ? later : warp->ready)];
    }
    if (++warp == warps_.data() + warps_.size()) warp = warps_.data();
  } while (warp != first);
  return next_turn();
}

// Gives way until somebody makes the running thread ready again.
SIMT_INLINE void Block::wait(Place place) {
  Thread* const self = current_;
  Warp* const warp = self->warp;
  self->place = place;
  warp->ready &= ~(1u << self->lane);
  if (warp->ready == 0 && (watcher_ || warp->at_activemask)) warp_stopped(warp);
  switch_to(next(warp, self->lane));
}

void Block::wait_outside(Place place) { wait(place); }

// No lane of the warp can run. Lets those go on that wait for nothing but this.
void Block::warp_stopped(Warp* warp) {
  if (watcher_) {
    merge_records(warp, false);
    if (warp->paused && !warp->ready) merge_records(warp, true);
  }
  if (!warp->ready && warp->at_activemask && !warp->at_turn) answer_activemask(warp);
}

// Counts what all lanes have done, and lets paused lanes go on that need no longer wait.
void Block::merge_records(Warp* warp, bool force) {
  const uint32_t room = watcher_->merge(static_cast<unsigned>(warp - warps_.data()), warp->alive, force);
  warp->ready |= warp->paused & room;
  warp->paused &= ~room;
}

void Block::pause() {
  current_->warp->paused |= 1u << current_->lane;
  wait(current_->place);
}

// The operation on this mask that is under way, or a free slot for a new one.
SIMT_INLINE Exchange* Block::find_exchange(Warp* warp, unsigned mask) {
  for (Exchange& exchange : warp->exchanges) {
    if (exchange.mask == mask) return &exchange;
  }
  return new_exchange(warp, mask);
}

Exchange* Block::new_exchange(Warp* warp, unsigned mask) {
  Exchange* unused = nullptr;
  for (Exchange& exchange : warp->exchanges) {
    if (!exchange.arrived && !exchange.unread) unused = &exchange;
  }
  if (!unused) {
    // Pointers into the vector are kept across waits; there are never more operations under way than lanes.
    if (warp->exchanges.capacity() < 33) warp->exchanges.reserve(33);
    warp->exchanges.emplace_back();
    unused = &warp->exchanges.back();
  }
  unused->mask = mask;
  for (auto& values : unused->values) std::fill(std::begin(values), std::end(values), nothing_brought);
  for (auto& answer : unused->answers) answer.known = false;
  return unused;
}

void Block::begin_launch(const LaunchState& launch, bool record, counters::LaunchCounters* counters) {
  if (!record) return;
  if (!own_watcher_) own_watcher_ = make_watcher();
  watcher_ = own_watcher_.get();
  watcher_->begin_launch(launch, counters);
}

void Block::end_launch() {
  if (watcher_) watcher_->end_launch();
  watcher_ = nullptr;
}

bool Block::run(const LaunchState& launch, uint64_t number) {
  index_ = launch.block_index(number);
  set_up(launch);
  simt_blockIdx = index_;
  current_block = this;
  if (watcher_) {
    watcher_->begin_block(number, index_);
    for (unsigned t = 0; t < threads_.size(); t++) threads_[t].log = watcher_->lane(t);
  }
  give_stack(&threads_[0], stacks_.take());
  set_running(&threads_[0]);
  simt_switch(&caller_, make_fiber(current_->stack, stack_main));
  return stopped();
}

bool Block::resume() {
  simt_blockIdx = index_;
  simt_blockDim = launch_->config.block;
  simt_gridDim = launch_->config.grid;
  current_block = this;
  if (watcher_) watcher_->resume();
  begin_turn();
  set_running(current_);
  simt_switch(&caller_, current_->context);
  return stopped();
}

// Every thread has returned, or waits for the grid or the next turn.
bool Block::stopped() {
  if (alive_ > 0) {
    if (watcher_) watcher_->suspend();
    current_block = nullptr;
    return false;
  }
  if (watcher_) watcher_->end_block();
  current_ = nullptr;
  current_block = nullptr;
  return true;
}

void Block::set_up(const LaunchState& launch) {
  const unsigned count = launch.threads_per_block();
  if (launch_id_ != launch.id) {
    launch_ = &launch;
    launch_id_ = launch.id;
    simt_gridDim = launch.config.grid;
    simt_blockDim = launch.config.block;
    stacks_.reserve(count, launch.resident_blocks() * count <= max_guarded_threads);
    threads_.resize(count);
    warps_.resize((count + warpSize - 1) / warpSize);
    const dim3 block = launch.config.block;
    for (unsigned t = 0; t < count; t++) {
      Warp* warp = &warps_[t / warpSize];
      const uint3 position = {t % block.x, t / block.x % block.y, t / block.x / block.y};
      threads_[t] = {nullptr, nullptr, {}, warp, t % warpSize, position, {}, 0, nullptr, nullptr, false};
    }
  }
  for (size_t w = 0; w < warps_.size(); w++) {
    const unsigned lanes = count - static_cast<unsigned>(w) * warpSize;
    Warp& warp = warps_[w];
    warp.threads = &threads_[w * warpSize];
    warp.alive = warp.ready = lanes >= 32 ? full_mask : (1u << lanes) - 1;
    warp.at_barrier = warp.at_activemask = warp.paused = warp.at_turn = 0;
    warp.exchanges.clear();
  }
  for (Thread& thread : threads_) thread.context = nullptr, thread.held = nullptr;
  alive_ = count;
  at_barrier_ = at_turn_ = barrier_turn_ = 0;
  for_grid_ = false;
  meetings_.clear();
  votes_[0] = votes_[1] = {0, true};
}

const Thread* Block::owner_of(uintptr_t stack_address) const {
  if (!stacks_.contains(stack_address)) return nullptr;
  for (const Thread& thread : threads_) {
    const bool has_stack = thread.context || &thread == current_;
    if (has_stack && thread.warp->alive >> thread.lane & 1 &&
        stacks_.slot_of(stack_address) == stacks_.slot_of(thread.local.begin))
      return &thread;
  }
  return nullptr;
}

void Block::stack_main() {
  Block* const block = current_block;
  const BoundKernel& kernel = block->launch_->kernel;
  for (;;) {
    if (block->watcher_) block->watcher_->clear_local(block->current_->local.begin);
    simt_call_kernel(kernel.run, kernel.arguments, &block->current_->local,
                     block->watcher_ ? &simt_local : &block->current_->local);
    Thread* const done = block->current_;
    block->retire(done);
    if (block->alive_ == 0) {
      block->stacks_.give_back(done->stack);
      simt_switch(&done->context, block->caller_);
    }
    Thread* const next = block->next(done->warp, done->lane);
    if (!next->context) block->give_stack(next, done->stack);
    block->set_running(next);
    if (next->context) {
      block->stacks_.give_back(done->stack);
      simt_switch(&done->context, next->context);
    }
  }
}

SIMT_INLINE Votes Block::barrier(int predicate, Place place) {
  if (watcher_) {
    watcher_->barrier(place, SIMT_CALLER);
    watcher_->receive(4);  // the votes
  }
  Thread* const self = current_;
  const unsigned turn = barrier_turn_ & 1;
  votes_[turn].count += predicate != 0;
  votes_[turn].all &= predicate != 0;
  self->warp->at_barrier |= 1u << self->lane;
  if (++at_barrier_ == alive_) {
    complete_barrier();
  } else {
    wait(place);
  }
  return votes_[turn];
}

void Block::grid_barrier(Place place) {
  for_grid_ = true;
  current_->place = place;
  barrier(0, place);
}

void Block::complete_barrier() {
  if (for_grid_) {
    for_grid_ = false;
    simt_switch(&current_->context, caller_);
  }
  for (Warp& warp : warps_) {
    warp.ready |= warp.at_barrier;
    warp.at_barrier = 0;
  }
  // What came before the barrier is counted before what comes after it: other warps have stopped at it.
  if (watcher_) merge_records(current_->warp, false);
  if (watcher_) watcher_->barrier_completed();
  at_barrier_ = 0;
  barrier_turn_++;
  votes_[barrier_turn_ & 1] = {0, true};
}

SIMT_INLINE Exchanged Block::exchange(unsigned mask, uint64_t value, Place place) {
  Thread* const self = current_;
  if (watcher_) watcher_->warp_operation(mask, self->lane, place, SIMT_CALLER);
  Warp* const warp = self->warp;
  const unsigned bit = 1u << self->lane;
  if (self->held) self->held->unread &= ~bit;
  Exchange* const exchange = find_exchange(warp, mask);
  self->held = exchange;
  uint64_t* const values = exchange->values[exchange->turn & 1];
  values[self->lane] = value;
  self->mask = mask;
  if (watcher_) self->place = place;
  exchange->arrived |= bit;
  // A caller outside the mask is undefined behaviour in CUDA; it waits for the lanes of the mask here.
  if ((mask & warp->alive & ~exchange->arrived) == 0) {
    complete_exchange(warp, exchange);
  } else {
    wait(place);
  }
  return {values, self->lane};
}

void Block::complete_exchange(Warp* warp, Exchange* exchange) {
  uint64_t* const values = exchange->values[exchange->turn & 1];
  exchange->answers[exchange->turn & 1].known = false;
  exchange->came[exchange->turn & 1] = exchange->arrived;
  for (unsigned gone = exchange->mask & ~exchange->arrived; gone; gone &= gone - 1)
    values[__builtin_ctz(gone)] = nothing_brought;
  if (watcher_) {
    watcher_->warp_operation_completed(static_cast<unsigned>(warp - warps_.data()), exchange->mask, exchange->arrived);
  }
  warp->ready |= exchange->arrived;
  exchange->unread = exchange->arrived;
  exchange->arrived = 0;
  exchange->turn++;
}

unsigned Block::active_lanes(Place place) {
  Thread* const self = current_;
  self->warp->at_activemask |= 1u << self->lane;
  wait(place);
  if (watcher_) watcher_->receive(4);  // which lanes are here
  return self->mask;
}

// No lane of the warp can run: those that wait in __activemask at the same line have converged.
void Block::answer_activemask(Warp* warp) {
  for (unsigned left = warp->at_activemask; left;) {
    const Place& place = warp->threads[__builtin_ctz(left)].place;
    unsigned together = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
      const Place& other = warp->threads[lane].place;
      if (left >> lane & 1 && other.line == place.line && other.file == place.file) together |= 1u << lane;
    }
    for (unsigned lane = 0; lane < 32; lane++) {
      if (together >> lane & 1) warp->threads[lane].mask = together;
    }
    left &= ~together;
  }
  warp->ready |= warp->at_activemask;
  warp->at_activemask = 0;
}

// In turn over all threads of the block: whoever is waited for has a turn, too.
void Block::yield() {
  if (launch_->in_turns) return wait_for_turn();
  Warp* const warp = current_->warp;
  // It waits for another thread, which may be one that waits until this one has caught up.
  if (warp->paused) merge_records(warp, true);
  const unsigned lane = current_->lane, later = lane < 31 ? warp->ready & full_mask << (lane + 1) : 0;
  Warp* const other = warp + 1 == warps_.data() + warps_.size() ? warps_.data() : warp + 1;
  switch_to(later ? &warp->threads[__builtin_ctz(later)] : next(other, 31));
}

// A thread has returned. It counts as arrived wherever others wait for it.
void Block::retire(Thread* thread) {
  Warp* const warp = thread->warp;
  const unsigned bit = 1u << thread->lane;
  warp->alive &= ~bit;
  warp->ready &= ~bit;
  if (thread->held) thread->held->unread &= ~bit;
  if (--alive_ == 0) return;
  if (at_barrier_ == alive_) complete_barrier();
  for (Exchange& exchange : warp->exchanges) {
    if (exchange.arrived && (exchange.mask & warp->alive & ~exchange.arrived) == 0) complete_exchange(warp, &exchange);
  }
  if (warp->ready == 0 && (watcher_ || warp->at_activemask)) warp_stopped(warp);
}

bool in_kernel() noexcept { return current_block; }
Votes block_barrier(int predicate, Place place) noexcept { return current_block->barrier(predicate, place); }
Exchanged warp_exchange(unsigned mask, uint64_t value, Place place) noexcept {
  return current_block->exchange(mask, value, place);
}
unsigned active_lanes(Place place) noexcept { return current_block->active_lanes(place); }
// A function for host and device may be called by the host.
bool& flag_of_caller() {
  static thread_local bool of_host = false;
  return current_block ? current_block->carry_flag() : of_host;
}
bool carry_flag() noexcept { return flag_of_caller(); }
void set_carry_flag(bool carry) noexcept { flag_of_caller() = carry; }
void yield() noexcept {
  if (!current_block) {  // the host waits, by the same functions
    std::this_thread::yield();
    return;
  }
  poll(SIMT_CALLER);
  current_block->yield();
}
}  // namespace simt
