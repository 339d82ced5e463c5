#include "recorder.h"

#include <algorithm>
#include <cstring>

#include "../checks/report.h"
#include "../cluster.h"
#include "../device_heap.h"
#include "../device_queues.h"
#include "../launch_state.h"
#include "../module_tls.h"
#include "guards.h"

extern "C" __thread uint3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;

namespace simt {

__thread Recording recording;

}  // namespace simt

extern "C" {
__thread simt::Allocation simt_local = {0, ~size_t{0}};
__thread int64_t simt_depth = 0;
}

namespace simt {

namespace {
Observer* observer = nullptr;

// Is it in threadIdx or one of its like?
bool is_position(uintptr_t address) {
  for (const uint3* variable : {&simt_threadIdx, &simt_blockIdx, &simt_blockDim, &simt_gridDim}) {
    if (address - reinterpret_cast<uintptr_t>(variable) < sizeof *variable) return true;
  }
  return false;
}

// The executor's variables that kernels use: the one with the lowest address.
uintptr_t first_builtin_variable() {
  uintptr_t first = reinterpret_cast<uintptr_t>(simt_dynamic_shared);
  for (const uint3* variable : {&simt_threadIdx, &simt_blockIdx, &simt_blockDim, &simt_gridDim})
    first = std::min(first, reinterpret_cast<uintptr_t>(variable));
  return first;
}
}  // namespace

void set_observer(Observer* new_observer) { observer = new_observer; }
Observer* current_observer() { return observer; }

std::unique_ptr<Watcher> make_watcher() { return std::make_unique<Recorder>(); }

void Recorder::begin_launch(const LaunchState& launch, counters::LaunchCounters* counters) {
  launch_ = &launch;
  // Code and data of a module lie within 2 GiB of each other.
  base_ = reinterpret_cast<uintptr_t>(launch.kernel.run) - (uintptr_t{1} << 31);
  collector_ = counters ? std::make_unique<counters::Collector>(*counters, base_) : nullptr;

  const ModuleTls tls = module_tls(reinterpret_cast<const void*>(launch.kernel.run));
  allocations_ = live_allocations();
  for (const Allocation& constants : counted_constants()) {
    const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), constants.begin,
                                        [](uintptr_t a, const Allocation& allocation) { return a < allocation.begin; });
    allocations_.insert(after, constants);
  }
  recording = {};
  ignored_ = {};
  recording.recorder = this;
  recording.counting = counters != nullptr;
  if (!allocations_.empty()) {
    recording.global = allocations_.front().begin;
    recording.global_bytes = allocations_.back().begin + allocations_.back().bytes - recording.global;
  }
  const std::vector<Allocation> variables = device_variables();
  if (!variables.empty()) {
    recording.variables = variables.front().begin;
    recording.variables_bytes = variables.back().begin + variables.back().bytes - recording.variables;
  }
  recording.dynamic_shared = reinterpret_cast<uintptr_t>(simt_dynamic_shared);
  recording.dynamic_bytes = max_shared_bytes;
  recording.static_shared = reinterpret_cast<uintptr_t>(tls.begin);
  recording.static_bytes = tls.bytes;
  recording.main_program = tls.main_program;
  recording.guards = &guard_offsets(reinterpret_cast<const void*>(launch.kernel.run));
  recording.observer = current_observer();
  last_target_ = 0;
  launch_tracer_ = counters ? counters->tracer.get() : nullptr;
}

void Recorder::suspend() {
  if (recording.observer) {
    show_all();
    recording.observer->block_suspend(info_);
  }
  suspended_ = recording;
  recording.lane = nullptr;
  simt_local = everything;
}

void Recorder::resume() {
  recording = suspended_;
  if (recording.observer) recording.observer->block_resume(info_);
}

void Recorder::end_launch() {
  if (collector_) collector_->add_to_launch();
  collector_ = nullptr;
  launch_ = nullptr;
}

void Recorder::begin_block(uint64_t number, uint3 index) {
  info_ = {index,
           number,
           launch_->threads_per_block(),
           launch_->config.shared_bytes,
           recording.dynamic_shared,
           recording.static_shared,
           recording.static_bytes,
           {recording.variables, recording.variables_bytes},
           launch_->id};
  paths_.clear();
  loops_.clear();
  recording.jump = {};
  const unsigned warps = (info_.threads + log_lanes - 1) / log_lanes;
  announced_.assign(warps * log_lanes, {});
  recent_.assign(warps * log_lanes, {});
  lanes_.assign(warps * log_lanes, {nullptr, nullptr, nullptr, uint64_t{0} - (base_ << key_pc_shift), 0});
  lane_accesses_.assign(warps * log_lanes, 0);
  received_.assign(warps * log_lanes, 0);
  loaded_.assign(warps, 0);
  exchanged_ = 0;
  waits_.begin_block();
  if (frames_.size() < lanes_.size()) frames_.resize(lanes_.size());
  for (std::vector<Frame>& frames : frames_) frames.clear();
  if (warps_.size() < warps) warps_.resize(warps);
  for (unsigned w = 0; w < warps; w++) {
    warps_[w].accesses = &lane_accesses_[w * log_lanes];
    warps_[w].full_rows = 0;
    warps_[w].received = &received_[w * log_lanes];
    warps_[w].full_row_bytes = 0;
  }
  is_tracing_ = recording.tracing = launch_tracer_ && launch_tracer_->wants(number);
  if (is_tracing_) tracer_.begin(launch_tracer_, number, warps);
  if (collector_) collector_->begin_block(warps);
  if (recording.observer) recording.observer->block_begin(info_);
}

void Recorder::end_block() {
  recording.lane = nullptr;
  simt_local = everything;
  const unsigned warps = static_cast<unsigned>(lanes_.size() / log_lanes);
  for (unsigned w = 0; w < warps; w++) {
    merge(w, 0, true);
    for (unsigned lane = 0; lane < log_lanes; lane++) {
      warps_[w].accesses[lane] += warps_[w].full_rows;
      warps_[w].received[lane] += warps_[w].full_row_bytes;
    }
  }
  if (launch_tracer_ && std::all_of(lane_accesses_.begin(), lane_accesses_.end(), [](auto n) { return n == 0; }))
    launch_tracer_->add_idle(info_.number);
  if (is_tracing_) tracer_.end();
  is_tracing_ = recording.tracing = false;
  if (collector_)
    collector_->end_block(lane_accesses_.data(), received_.data(), loaded_.data(), info_.threads, exchanged_,
                          waits_.beyond_longest(lane_accesses_.data(), info_.threads));
  if (recording.observer) recording.observer->block_end(info_);
}

inline void Recorder::synchronise(Event event, Place place, uintptr_t pc) {
  LaneLog* const lane = recording.lane;
  lane->last_pc = pc;
  if (!has_room(lane)) make_room(lane);
  append(lane, key_at(lane, pc, event, 0), pack(place));
}

void Recorder::barrier(Place place, uintptr_t pc) {
  if (recording.observer) recording.observer->barrier_arrive(running_thread(), place);
  synchronise(Event::barrier, place, pc);
  if (waits_.active()) waits_.arrive(running(), accesses_so_far());
}

void Recorder::warp_operation(unsigned mask, unsigned lane, Place place, uintptr_t pc) {
  if (!(mask >> lane & 1) && recording.observer) recording.observer->warp_caller_outside(running_thread(), mask, place);
  synchronise(Event::warp_operation, place, pc);
}

void Recorder::meeting_arrive(uint64_t key, unsigned phase, Place place, uintptr_t pc) {
  synchronise(Event::warp_operation, place, pc);
  if (recording.counting) waits_.give(running(), accesses_so_far(), {key, phase});
  if (!recording.observer) return;
  show_now();
  recording.observer->meeting_arrive(running_thread(), key, phase);
}

void Recorder::meeting_left(uint64_t key, unsigned phase) {
  if (waits_.active()) waits_.take(running(), accesses_so_far(), {key, phase});
  if (recording.observer) recording.observer->meeting_left(running_thread(), key, phase);
}

void Recorder::barrier_completed() {
  if (waits_.active()) waits_.barrier_completed();
  if (collector_ && current_cluster) collector_->barrier_completed(current_cluster->barriers());
  if (!recording.observer) return;
  show_all();
  recording.observer->barrier_complete(info_);
}

void Recorder::warp_operation_completed(unsigned warp, unsigned mask, unsigned arrived) {
  waits_.lanes_met(warp * log_lanes, arrived, [this](unsigned thread) { return accesses_so_far(thread); });
  if (!recording.observer) return;
  show(warp);
  recording.observer->warp_complete(info_, warp, mask, arrived);
}

void Recorder::make_room(LaneLog* lane) {
  const unsigned warp = static_cast<unsigned>(lane - lanes_.data()) / log_lanes;
  if (lane->next) current_block->pause();
  // A log that was merged to its end has been given back. A lane that goes on after a pause has room in any that is
  // left.
  if (!warps_[warp].log) take_log(warp);
}

void Recorder::take_log(unsigned warp) {
  if (free_logs_.empty()) free_logs_.push_back(std::make_unique<WarpLog>());
  warps_[warp].log = std::move(free_logs_.back());
  free_logs_.pop_back();
  const unsigned none[log_lanes] = {};
  for (unsigned lane = 0; lane < log_lanes; lane++)
    lanes_[warp * log_lanes + lane].next = lanes_[warp * log_lanes + lane].shown = &warps_[warp].log->keys[0][lane];
  restart_columns(warp, none);
}

void Recorder::release_log(unsigned warp) {
  free_logs_.push_back(std::move(warps_[warp].log));
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    LaneLog& column = lanes_[warp * log_lanes + lane];
    column.next = column.end = column.shown = nullptr;
  }
}

// Moves what each column holds from heads[lane] on to its front.
void Recorder::restart_columns(unsigned warp, const unsigned* heads) {
  WarpLog* const log = warps_[warp].log.get();
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    LaneLog& column = lanes_[warp * log_lanes + lane];
    const auto count = static_cast<unsigned>(column.next - &log->keys[0][lane]) / log_lanes;
    if (heads[lane] > 0) {
      for (unsigned from = heads[lane], to = 0; from < count; from++, to++) {
        log->keys[to][lane] = log->keys[from][lane];
        log->values[to][lane] = log->values[from][lane];
      }
    }
    column.next = column.shown = &log->keys[0][lane] + (count - heads[lane]) * log_lanes;
    column.end = std::max(column.next, &log->keys[0][lane] + log_rows * log_lanes);
  }
}

ThreadId Recorder::running_thread() const { return {info_.index, simt_threadIdx, running()}; }

// The range around an address in which everything is recorded; empty if it is not recorded.
Allocation Recorder::recorded_range(uintptr_t address) const {
  if (address - recording.dynamic_shared < recording.dynamic_bytes)
    return {recording.dynamic_shared, recording.dynamic_bytes};
  if (address - recording.static_shared < recording.static_bytes) {
    if (is_builtin_variable(address)) return {};
    // In the main program the kernels' variables come before the executor's.
    uintptr_t begin = recording.static_shared, end = begin + recording.static_bytes;
    if (recording.main_program) end = std::min(end, first_builtin_variable());
    if (address >= end) return {address, 1};
    const auto after = std::upper_bound(recording.guards->begin(), recording.guards->end(), address - begin);
    if (after != recording.guards->end()) end = std::min(end, recording.static_shared + *after);
    if (after != recording.guards->begin()) begin += *std::prev(after) + guard_bytes;
    return {begin, end - begin};
  }
  if (address - recording.variables < recording.variables_bytes)
    return {recording.variables, recording.variables_bytes};
  if (device_heap::contains(address)) return device_heap::range();
  if (current_cluster && current_cluster->remote(address)) return {address, 1};
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](uintptr_t a, const Allocation& allocation) { return a < allocation.begin; });
  if (after == allocations_.begin() || address - std::prev(after)->begin >= std::prev(after)->bytes) return {};
  return *std::prev(after);
}

bool Recorder::is_recorded(const Access& access) {
  const uintptr_t address = access.address;
  const bool loads = only_loads(access.kind);
  if (loads && address - ignored_.begin < ignored_.bytes) return false;
  if (is_known(address, access.bytes)) return true;
  Allocation range = recorded_range(address);
  const bool recorded = range.bytes > 0;
  const bool asked = recorded || address - recording.static_shared >= recording.static_bytes;
  if (recording.observer && (asked || (!loads && is_position(address)))) {
    const Allocation right = recording.observer->before_access(running_thread(), access);
    if (!recorded && loads) ignored_ = right;
    const uintptr_t begin = std::max(range.begin, right.begin);
    const uintptr_t end = std::min(range.begin + range.bytes, right.begin + right.bytes);
    range = {begin, begin < end ? end - begin : 0};
  }
  if (recorded && range.bytes > 1) recording.known[recording.next_known++ % Recording::known_ranges] = range;
  return recorded;
}

void Recorder::jump_back(LaneLog* lane, uintptr_t from, uintptr_t to) {
  loops_.saw(relative(to), relative(from));
  recording.jump = {from, to, (to << key_pc_shift) + key_meta(Event::back_edge, 0), relative(from)};
  if (!has_room(lane)) make_room(lane);
  append(lane, key_at(lane, to, Event::back_edge, 0), relative(from));
}

void Recorder::enter_block(LaneLog* lane, uintptr_t pc) {
  if (!has_room(lane)) make_room(lane);
  append_key(lane, key_at(lane, pc, Event::basic_block, 0));
}

void Recorder::record(const Access& access) {
  LaneLog* const lane = recording.lane;
  if (access.address - simt_local.begin < simt_local.bytes) return note_depth(access.address);
  if (!is_recorded(access)) return;
  const bool loads = only_loads(access.kind);
  const bool atomic = access.kind == AccessKind::atomic || access.kind == AccessKind::atomic_store;
  const Event event = atomic ? Event::atomic : loads ? Event::load : Event::store;
  const bool is_volatile =
      access.kind != AccessKind::load && access.kind != AccessKind::store && access.kind != AccessKind::atomic;
  lane->last_pc = access.pc;
  if (!has_room(lane)) make_room(lane);
  append(lane, key_at(lane, access.pc, event, is_volatile ? access.bytes | key_volatile : access.bytes),
         access.address);
  if (access.kind == AccessKind::store && recording.observer)
    note_store(lane->next - log_lanes, access.address, access.bytes, access.aligned);
}

void Recorder::clear_local(uintptr_t begin) {
#if defined(__x86_64__)
  constexpr uintptr_t frames = 56;  // of simt_call_kernel, beyond those of this function
#else
  constexpr uintptr_t frames = 256;
#endif
  constexpr uintptr_t unsaid = 512 + 256;  // a frame that says nothing (announce/stack_pointer.cpp), and what it calls
  const uintptr_t end = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - frames;
  const uintptr_t bytes = std::min(static_cast<uintptr_t>(simt_depth) + unsaid, end - begin);
  std::memset(reinterpret_cast<void*>(end - bytes), 0xff, bytes);  // NaN
}

void record_slowly(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc, bool aligned) {
  recording.recorder->record({pc, address, bytes, aligned, kind});
}

void Recorder::announce(const Announced& atomic, AccessKind kind, uintptr_t pc) {
  const bool is_size = atomic.bytes && atomic.bytes <= 16 && !(atomic.bytes & (atomic.bytes - 1));
  if (!is_size)
    checks::report(
        "memcheck: invalid address", running_thread(), pc,
        "it announces an atomic access of " + std::to_string(atomic.bytes) + " bytes: there is none of this size.");
  record_in_order(atomic.address, atomic.bytes, kind, pc);
  announced() = atomic;
  use_rows(log_most_rows);
}

void Recorder::use_rows(unsigned rows) {
  const unsigned thread = running();
  const std::unique_ptr<WarpLog>& log = warps_[thread / log_lanes].log;
  if (log) recording.lane->end = std::max(recording.lane->next, &log->keys[0][thread % log_lanes] + rows * log_lanes);
}

void record_in_order(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc) {
  if (!recording.lane) return;
  settle_store();  // while another device works, it may change
  // In shared memory it waits for no other device.
  const bool shared = address - recording.dynamic_shared < recording.dynamic_bytes ||
                      address - recording.static_shared < recording.static_bytes;
  if (!shared && (kind == AccessKind::volatile_load || kind == AccessKind::atomic)) poll(pc);
  // It may wait for what another block stores.
  static thread_local unsigned volatile_loads = 0;
  if (!shared && kind == AccessKind::volatile_load && current_block->launch().in_turns && ++volatile_loads % 64 == 0)
    current_block->wait_for_turn();
  recording.recorder->record({pc, address, bytes, true, kind});
  if (recording.counting)
    kind == AccessKind::volatile_load ? recording.recorder->looks_at(address) : recording.recorder->shows(address);
  const bool stores = kind == AccessKind::volatile_store || kind == AccessKind::atomic_store;
  if (recording.counting && stores) recording.recorder->stores(address);
  if (recording.observer) recording.recorder->show_now();
}

bool is_builtin_variable(uintptr_t address) {
  if (!recording.guards->empty()) {
    const uintptr_t offset = address - recording.static_shared;
    const auto after = std::upper_bound(recording.guards->begin(), recording.guards->end(), offset);
    if (after != recording.guards->begin() && offset - *std::prev(after) < guard_bytes) return true;
  }
  if (!recording.main_program) return false;
  for (const uint3* variable : {&simt_threadIdx, &simt_blockIdx, &simt_blockDim, &simt_gridDim}) {
    if (address - reinterpret_cast<uintptr_t>(variable) < sizeof *variable) return true;
  }
  return false;
}

}  // namespace simt
