// Records what the threads of a block do and puts it together to warp instructions.
//
// The rule by which lanes are put together is that of hardware which reconverges wherever it can: of the lanes' next
// events the one that stands first in the program is executed, together with all lanes whose next event is the same.
//  - "First" is by program counter; a function stands where it is called, and what a loop repeats waits at the loop's
//  end
//    until every lane is out of the loop or there too.
//  - Nothing is executed while a lane has not yet said what it does next. A lane that has returned is no longer asked.
//  Nor
//    is a lane that cannot go on before others do (a barrier), if otherwise nobody could; nor are the others if a lane
//    gives way (a spin lock) to let them go on.
// Departures from the hardware: it need not reconverge at the first possible instruction, which the compiler decides
// (it may duplicate or predicate code that this compiler keeps together, and the other way round); a goto into or out
// of the middle of a loop, which the layout of the code does not show as a loop.
//
// Work streams: a lane is never ahead by more than a log has rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../block.h"
#include "../checks/observer.h"
#include "../counters/collector.h"
#include "../memory.h"
#include "../recording.h"
#include "../timing/tracer.h"
#include "../watcher.h"
#include "log.h"
#include "loops.h"
#include "paths.h"
#include "waits.h"

namespace simt {

constexpr Allocation everything = {0, ~size_t{0}};

class Recorder final : public Watcher {
 public:
  // A launch as this OS thread sees it. `counters` may be nullptr: then only the observer looks on.
  void begin_launch(const LaunchState& launch, counters::LaunchCounters* counters) override;
  void end_launch() override;

  // While a block waits for the grid, others run on this OS thread.
  void suspend() override;
  void resume() override;

  void begin_block(uint64_t number, uint3 index) override;
  void end_block() override;

  LaneLog* lane(unsigned thread) override { return &lanes_[thread]; }
  const BlockInfo& block() const { return info_; }

  // CUDA's atomic that the running lane has recorded as a whole: what it consists of is not recorded again.
  struct Announced {
    uintptr_t address = 0;
    unsigned bytes = 0;
    bool stores_only = false, loaded = false;
  };
  Announced& announced() { return announced_[running()]; }
  // Records it. Ends the process if there is no atomic of this size.
  void announce(const Announced& atomic, AccessKind kind, uintptr_t pc);
  // Of the running lane's log: how many rows it may fill before it pauses.
  void use_rows(unsigned rows);

  // What the running thread does; pc is where it called, `lane` its own.
  void barrier(Place place, uintptr_t pc) override;
  void warp_operation(unsigned mask, unsigned lane, Place place, uintptr_t pc) override;

  void meeting_arrive(uint64_t key, unsigned phase, Place place, uintptr_t pc) override;
  void meeting_left(uint64_t key, unsigned phase) override;

  void copy_in_bulk(const void* to, const void* from, unsigned bytes, uintptr_t pc) override;

  // For who needs them of some threads only.
  auto accesses_of_threads() const {
    return [this](unsigned thread) { return accesses_so_far(thread); };
  }

  // The running thread looks at a word that others may have stored, or stores one that they may wait for.
  void looks_at(uintptr_t address) {
    if (waits_.active()) waits_.take(running(), accesses_so_far(), {address, Waits::no_phase});
  }
  void shows(uintptr_t address) { waits_.give(running(), accesses_so_far(), {address, Waits::no_phase}); }
  // Or a maximum that changes nothing looks: it may wait for what is counted or stored there. What other maxima have
  // made of the word it need not wait for, unless it never changes anything itself. pc: its own.
  void chooses_nothing(uintptr_t address, uintptr_t pc) {
    if (waits_.active()) waits_.chose_nothing(running(), accesses_so_far(), address, site(pc));
  }
  void chooses(uintptr_t address, uintptr_t pc) { waits_.chose(running(), accesses_so_far(), address, site(pc)); }
  void counts(uintptr_t address) { waits_.give(running(), accesses_so_far(), {address, Waits::no_choice}); }
  void changes(uintptr_t address, uint64_t before, uint64_t after) {
    waits_.changed(running(), accesses_of_threads(), address, before, after);
  }
  void stores(uintptr_t address) {
    waits_.stored(running(), accesses_of_threads(), address);
    waits_.give(running(), accesses_so_far(), {address, Waits::no_choice});
  }

  // The running thread gets so many bytes of another one's without an access of memory.
  void receive(unsigned bytes) override {
    if (collector_) received_[running()] += bytes;
  }
  // And these of a lane of its warp.
  void exchange(unsigned bytes) {
    receive(bytes);
    exchanged_ += bytes;
  }

  // Every thread that was waited for has come.
  void barrier_completed() override;
  void warp_operation_completed(unsigned warp, unsigned mask, unsigned arrived) override;

  // No lane of the warp can go on: executes what is complete and returns the lanes that have room again. With `force`,
  // lanes that have nothing recorded hold up nobody.
  uint32_t merge(unsigned warp, uint32_t alive, bool force) override;

  // Any access of the running thread, wherever it goes. Asks the observer whether it is right.
  void record(const Access& access);

  // What the observer has to see of the running thread at once: it orders accesses.
  void show_now();
  void fence();
  void show_all();

  // Room for the running lane's next event, which may take until other lanes have caught up.
  void make_room(LaneLog* lane);

  // The running lane calls a function, returns from one, begins another round of a loop.
  void enter(LaneLog* lane, uintptr_t call) {
    const unsigned path = path_of(lane);
    move(lane, path, paths_.enter(path, relative(call)));
    lane->last_pc = 0;
  }
  void leave(LaneLog* lane) {
    const unsigned path = path_of(lane);
    lane->last_pc = base_ + paths_.call_pc(path);
    move(lane, path, paths_.leave(path));
  }
  void jump_back(LaneLog* lane, uintptr_t from, uintptr_t to);

  // Where control goes (flow.cpp). `slot` is where a function's return address lies.
  void enter_function(uintptr_t slot, uintptr_t pc);
  void leave_function(uintptr_t slot, uintptr_t pc);
  void call_by_pointer(uintptr_t target, uint64_t mark, uintptr_t pc);
  void move_stack(uintptr_t to, uintptr_t pc);

  void enter_block(LaneLog* lane, uintptr_t pc);

  // Is the access among the running lane's last, as the hooks have recorded them? (seen.cpp)
  bool was_announced(uintptr_t address, size_t bytes, Event event, uintptr_t pc) const;

  // Overwrites what other threads have left on the stack that the running one begins on, whose local memory begins
  // there: on a GPU no thread finds anything of another's. Called where the kernel is called.
  void clear_local(uintptr_t begin) override;

 private:
  struct Frame {
    uintptr_t slot, returns_to;
  };
  struct WarpState {
    std::unique_ptr<WarpLog> log;
    uint64_t* accesses;       // per lane
    uint64_t full_rows;       // accesses of all 32 lanes
    uint64_t* received;       // bytes, per lane
    uint64_t full_row_bytes;  // that all 32 lanes have received
  };

  uint32_t relative(uintptr_t pc) const { return static_cast<uint32_t>(pc - base_); }
  // An instruction, and by which calls the running lane has come to it.
  uint64_t site(uintptr_t pc) const { return recording.lane->frame + (static_cast<uint64_t>(pc) << key_pc_shift); }
  unsigned path_of(const LaneLog* lane) const { return key_path(lane->frame + (base_ << key_pc_shift)); }
  static void move(LaneLog* lane, unsigned from, unsigned to) {
    lane->frame += (uint64_t{to} - uint64_t{from}) << key_path_shift;
  }
  ThreadId running_thread() const;
  // Its number in the block.
  unsigned running() const { return static_cast<unsigned>(recording.lane - lanes_.data()); }
  uint64_t accesses_so_far(unsigned thread) const;
  uint64_t accesses_so_far() const { return accesses_so_far(running()); }
  std::vector<Frame>& frames() { return frames_[running()]; }
  bool is_recorded(const Access& access);
  Allocation recorded_range(uintptr_t address) const;
  void show(unsigned warp);
  void show_row(unsigned warp, const WarpLog& log, unsigned row, uint32_t lanes);
  inline void synchronise(Event event, Place place, uintptr_t pc);
  void take_log(unsigned warp);
  void release_log(unsigned warp);
  void restart_columns(unsigned warp, const unsigned* heads);
  void keep_recent(unsigned warp, const unsigned* heads);
  unsigned merge_rows(WarpState* warp, uint32_t lanes, unsigned rows);
  void merge_divergent(WarpState* warp, uint32_t lanes, uint32_t alive, bool force, unsigned* heads,
                       const unsigned* counts);
  void execute(WarpState* warp, uint64_t key, uint32_t lanes, const uint64_t* values);
  void show_bulk(unsigned warp, uint64_t key, uint32_t lanes, const uint64_t* values);
  bool record_bulk(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc);

  const LaunchState* launch_ = nullptr;
  Recording suspended_ = {};
  std::unique_ptr<counters::Collector> collector_;
  BlockInfo info_ = {};
  std::vector<Allocation> allocations_;  // by rising address
  Allocation ignored_ = {};              // a range of right loads that are not recorded: the last
  std::vector<LaneLog> lanes_;
  std::vector<Announced> announced_;
  std::vector<RecentEvents> recent_;
  std::vector<std::vector<Frame>> frames_;  // of the calls that each lane has not returned from
  uintptr_t last_target_ = 0;
  std::vector<WarpState> warps_;
  std::vector<uint64_t> lane_accesses_;
  std::vector<std::unique_ptr<WarpLog>> free_logs_;
  timing::LaunchTracer* launch_tracer_ = nullptr;
  timing::BlockTracer tracer_;
  bool is_tracing_ = false;
  std::vector<uint64_t> received_, loaded_;  // bytes: per lane; of global memory, per warp
  uint64_t exchanged_ = 0;                   // bytes: of this block
  Waits waits_;
  Paths paths_;
  Loops loops_;
  uintptr_t base_ = 0;
};

// The running thread has received so many bytes otherwise than by an access of memory.
inline void note_received(unsigned bytes) {
  if (recording.lane && recording.counting) recording.recorder->receive(bytes);
}

inline void note_exchanged(unsigned bytes) {
  if (recording.lane && recording.counting) recording.recorder->exchange(bytes);
}

// A place in the source as one number: a line below 65536 and a pointer of 48 bits.
inline uint64_t pack(Place place) {
  return static_cast<uint64_t>(place.line) << 48 | (reinterpret_cast<uintptr_t>(place.file) & 0xffffffffffff);
}

// --- what the hooks do
// --------------------------------------------------------------------------------------------------

// In the static range, but no shared variable of the program.
bool is_builtin_variable(uintptr_t address);

inline AccessKind kind_of(Event event) {
  return event == Event::load ? AccessKind::load : event == Event::store ? AccessKind::store : AccessKind::atomic;
}

// The hooks are as many calls as the kernel has instructions of interest. What is rare is called last in them, so that
// the rest needs no registers saved.

inline __attribute__((always_inline)) void append(LaneLog* lane, uint64_t key, uint64_t value) {
  uint64_t* const slot = lane->next;
  slot[0] = key;
  slot[log_part] = value;
  lane->next = slot + log_lanes;
}

// Of an event that has no value: there are so many of them that storing none is worth it.
inline __attribute__((always_inline)) void append_key(LaneLog* lane, uint64_t key) {
  *lane->next = key;
  lane->next += log_lanes;
}

inline __attribute__((always_inline)) bool has_room(const LaneLog* lane) {
  return __builtin_expect(lane->next != lane->end, 1);
}

inline __attribute__((always_inline)) uint64_t key_at(const LaneLog* lane, uintptr_t pc, Event event, unsigned bytes) {
  return lane->frame + (static_cast<uint64_t>(pc) << key_pc_shift) + key_meta(event, bytes);
}

inline __attribute__((always_inline)) void record_jump_back(LaneLog* lane, uintptr_t from, uintptr_t to) {
  if (!recording.counting) return;
  const auto& last = recording.jump;
  if (from != last.from || to != last.to || !has_room(lane)) return recording.recorder->jump_back(lane, from, to);
  append(lane, lane->frame + last.key, last.value);
}

inline __attribute__((always_inline)) bool is_known(uintptr_t address, unsigned bytes) {
  if (address & (bytes - 1)) return false;
#pragma GCC unroll 4
  for (const Allocation& range : recording.known) {
    const uintptr_t offset = address - range.begin;
    if (offset < range.bytes) return bytes <= range.bytes - offset;
  }
  return false;
}

// The running thread's local memory is used down to this address.
inline void note_depth(uintptr_t address) {
  const auto depth = static_cast<int64_t>(simt_local.bytes - (address - simt_local.begin));
  if (depth > simt_depth) simt_depth = depth;
}

// A plain store that the log has at `slot` is about to happen; `whole`: as one access. And: it has happened.
void note_store(uint64_t* slot, uintptr_t address, unsigned bytes, bool whole);
void settle_store();

// Where an access is unknown, or its lane has no room.
void record_slowly(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc, bool aligned);

// An access of the running thread, which is about to happen. Local memory and the host's are left out.
inline __attribute__((always_inline)) void record(uintptr_t address, unsigned bytes, Event event, uintptr_t pc,
                                                  bool aligned = true) {
  LaneLog* const lane = recording.lane;
  if (!lane) return;
  if (!is_known(address, bytes) || !has_room(lane)) {
    const uintptr_t offset = address - simt_local.begin;
    if (offset < simt_local.bytes) {
      if (simt_local.bytes - offset > static_cast<uintptr_t>(simt_depth)) note_depth(address);
      return;
    }
    return record_slowly(address, bytes, kind_of(event), pc, aligned);
  }
  lane->last_pc = pc;
  append(lane, key_at(lane, pc, event, bytes), address);
  if (event == Event::store && recording.observer) note_store(lane->next - log_lanes, address, bytes, aligned);
}

// What the compiler copies as one object of unknown alignment is, on the device, several accesses: the widest of 4, 2
// or 1 bytes that divides its size.
void record_pieces(uintptr_t address, size_t bytes, Event event, uintptr_t pc);

// An atomic or volatile access: the observer sees it at once.
void record_in_order(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc);

}  // namespace simt
