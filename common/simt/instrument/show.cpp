// Shows the observer what lanes have recorded, warp instruction by warp instruction where lanes stand in the same row
// of the log. A lane's accesses come in its order; those of different lanes between two synchronisations may come in
// any.
#include <algorithm>

#include "recorder.h"

namespace simt {

namespace {

constexpr uint32_t all_lanes = 0xffffffffu;

AccessKind kind_of_key(uint64_t key) {
  const bool is_volatile = key_is_volatile(key);
  switch (key_event(key)) {
    case Event::load: return is_volatile ? AccessKind::volatile_load : AccessKind::load;
    case Event::store: return is_volatile ? AccessKind::volatile_store : AccessKind::store;
    default: return is_volatile ? AccessKind::atomic_store : AccessKind::atomic;
  }
}

// Lanes of the row that have not stored have any bits.
StoredByLanes stored_by(const WarpLog& log, unsigned row) {
  StoredByLanes stored = {log.stored[row], log.stored_high[row], 0, 0};
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    const auto effect = static_cast<StoreEffect>(log.effects[row][lane]);
    stored.known |= static_cast<uint32_t>(effect != StoreEffect::unknown) << lane;
    stored.same |= static_cast<uint32_t>(effect == StoreEffect::none) << lane;
  }
  return stored;
}

}  // namespace

void Recorder::show(unsigned warp) {
  const WarpLog* const log = warps_[warp].log.get();
  if (!log) return;
  settle_store();
  LaneLog* const lanes = &lanes_[warp * log_lanes];
  uint32_t from[log_lanes], to[log_lanes];  // rows
  uint32_t apart = 0;
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    const auto row_of = [&](const uint64_t* slot) {
      const auto top = reinterpret_cast<uintptr_t>(&log->keys[0][lane]);
      return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(slot) - top) / sizeof log->keys[0]);
    };
    from[lane] = row_of(lanes[lane].shown);
    to[lane] = row_of(lanes[lane].next);
    lanes[lane].shown = lanes[lane].next;
    apart |= (from[lane] ^ from[0]) | (to[lane] ^ to[0]);
  }
  if (!apart) {  // as it mostly is
    for (unsigned row = from[0]; row < to[0]; row++) show_row(warp, *log, row, all_lanes);
    return;
  }
  uint32_t change[log_most_rows + 1] = {};  // lanes that begin or end at this row
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    change[from[lane]] ^= 1u << lane;
    change[to[lane]] ^= 1u << lane;
  }
  uint32_t in_row = 0;
  const unsigned last = *std::max_element(to, to + log_lanes);
  for (unsigned row = *std::min_element(from, from + log_lanes); row < last; row++) {
    in_row ^= change[row];
    if (in_row) show_row(warp, *log, row, in_row);
  }
}

void Recorder::show_row(unsigned warp, const WarpLog& log, unsigned row, uint32_t lanes) {
  const uint64_t* const keys = log.keys[row];
  const bool alike = all_equal(keys, lanes);
  if (!alike) {
    uint32_t accesses = 0;
    for (unsigned lane = 0; lane < log_lanes; lane++)
      accesses |= static_cast<uint32_t>(key_event(keys[lane]) <= Event::atomic) << lane;
    lanes &= accesses;
  } else if (key_event(keys[__builtin_ctz(lanes)]) > Event::atomic) {
    return;
  }
  StoredByLanes stored = {};
  while (lanes) {
    const uint64_t key = keys[__builtin_ctz(lanes)];
    uint32_t same = alike ? lanes : 0;
    for (uint32_t left = alike ? 0 : lanes; left; left &= left - 1) {
      if (keys[__builtin_ctz(left)] == key) same |= left & -left;
    }
    lanes &= ~same;
    if (key_is_bulk(key)) {
      show_bulk(warp, key, same, log.values[row]);
      continue;
    }
    LanesAccess access = {base_ + key_pc(key), key_bytes(key), kind_of_key(key), warp, same, log.values[row], nullptr};
    if (access.kind == AccessKind::store) {
      if (!stored.low) stored = stored_by(log, row);
      access.stored = &stored;
    }
    recording.observer->accesses(access);
  }
}

void Recorder::show_all() {
  for (unsigned warp = 0; warp * log_lanes < lanes_.size(); warp++) show(warp);
}

void Recorder::show_now() { show(running() / log_lanes); }

void Recorder::fence() {
  show_now();
  recording.observer->fence();
}

}  // namespace simt
