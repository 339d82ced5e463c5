// Puts the events of a warp's lanes together to warp instructions; recorder.h states the rule.
#include <algorithm>

#include "recorder.h"

namespace simt {

namespace {

constexpr uint32_t all_lanes = 0xffffffffu;

// Lanes next in line, as merge_divergent compares them.
struct Heads {
  uint64_t keys[log_lanes];
  uint64_t positions[log_lanes];  // twice the pc; a loop's end is after what is at its pc
};

unsigned first_of(uint32_t lanes) { return static_cast<unsigned>(__builtin_ctz(lanes)); }

}  // namespace

uint32_t Recorder::merge(unsigned warp_number, uint32_t alive, bool force) {
  WarpState& warp = warps_[warp_number];
  if (!warp.log) return all_lanes;
  if (recording.observer) show(warp_number);
  unsigned counts[log_lanes];
  for (unsigned lane = 0; lane < log_lanes; lane++)
    counts[lane] =
        static_cast<unsigned>(lanes_[warp_number * log_lanes + lane].next - &warp.log->keys[0][lane]) / log_lanes;
  if (!recording.counting) {  // the observer has seen all that there is
    keep_recent(warp_number, counts);
    release_log(warp_number);
    return all_lanes;
  }
  unsigned heads[log_lanes] = {};
  uint32_t lanes = 0;
  unsigned rows = log_most_rows;
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    if (!counts[lane]) continue;
    lanes |= 1u << lane;
    rows = std::min(rows, counts[lane]);
  }
  if (lanes && (force || (alive & ~lanes) == 0)) {
    const unsigned merged = merge_rows(&warp, lanes, rows);
    for (uint32_t left = lanes; left; left &= left - 1) heads[first_of(left)] = merged;
    merge_divergent(&warp, lanes, alive, force, heads, counts);
  }
  uint32_t room = 0;
  bool empty = true;
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    if (counts[lane] - heads[lane] < log_rows) room |= 1u << lane;
    empty &= counts[lane] == heads[lane];
  }
  keep_recent(warp_number, heads);
  if (empty) {
    release_log(warp_number);
  } else {
    restart_columns(warp_number, heads);
  }
  return room;
}

// Convergent code: every row of the log is a warp instruction. Returns how many are, from the front.
unsigned Recorder::merge_rows(WarpState* warp, uint32_t lanes, unsigned rows) {
  const WarpLog& log = *warp->log;
  for (unsigned row = 0; row < rows; row++) {
    if (!all_equal(log.keys[row], lanes)) return row;
    execute(warp, log.keys[row][first_of(lanes)], lanes, log.values[row]);
  }
  return rows;
}

// Any code: one step for each warp instruction. Stops where a lane that has not returned has nothing left.
void Recorder::merge_divergent(WarpState* warp, uint32_t lanes, uint32_t alive, bool force, unsigned* heads,
                               const unsigned* counts) {
  const WarpLog& log = *warp->log;
  Heads next;
  const auto look_at = [&](unsigned lane) {
    const uint64_t key = log.keys[heads[lane]][lane];
    next.keys[lane] = key;
    next.positions[lane] = uint64_t{key_pc(key)} * 2;
    if (key_event(key) == Event::back_edge) {
      const auto from = static_cast<uint32_t>(log.values[heads[lane]][lane]);
      next.positions[lane] = uint64_t{loops_.end(key_pc(key), from)} * 2 + 1;
    }
  };
  const auto before = [&](unsigned a, unsigned b) {
    const unsigned path = key_path(next.keys[a]), other = key_path(next.keys[b]);
    return path == other ? next.positions[a] < next.positions[b]
                         : paths_.before(path, next.positions[a], other, next.positions[b]);
  };
  const auto first_among = [&](uint32_t some) {
    unsigned first = first_of(some);
    for (uint32_t left = some & (some - 1); left; left &= left - 1) {
      if (before(first_of(left), first)) first = first_of(left);
    }
    return first;
  };
  uint32_t changed = lanes;  // lanes whose next event is not yet known
  // Lanes that wait for others do so for many steps: which of them is the first is kept.
  uint32_t waiting = 0;
  unsigned first_waiting = 0;
  for (;;) {
    const uint32_t stepped = changed;
    const uint64_t* of_first = nullptr;  // the next key of the first that went on
    bool alike = true;                   // all that went on have it, and it is no jump
    for (; changed; changed &= changed - 1) {
      const unsigned lane = first_of(changed);
      if (heads[lane] < counts[lane]) {
        look_at(lane);
        if (!of_first) of_first = &next.keys[lane];
        alike &= next.keys[lane] == *of_first;
        continue;
      }
      lanes &= ~(1u << lane);
      if (alive >> lane & 1 && !force) return;
    }
    if (!lanes) return;

    // Of equals the lowest lane.
    uint32_t some = lanes & stepped;  // lanes in which `first` and all that may go with it are
    alike &= some && key_event(*of_first) != Event::back_edge;
    const unsigned first_stepped = !some ? 0 : alike ? first_of(some) : first_among(some);
    unsigned first = first_stepped;
    if (const uint32_t others = lanes & ~stepped) {
      if (others != waiting) waiting = others, first_waiting = first_among(others);
      if (!some || !before(first_stepped, first_waiting)) {
        const bool equal = some && !before(first_waiting, first_stepped);
        first = equal ? std::min(first_stepped, first_waiting) : first_waiting;
        some = lanes;
        alike = false;
      }
    }
    // Lanes that repeat a loop wait for each other wherever they jumped from.
    const uint64_t key = next.keys[first], position = next.positions[first];
    const bool loop = key_event(key) == Event::back_edge;
    uint32_t together = alike ? some : 0;
    for (uint32_t left = alike ? 0 : some; left; left &= left - 1) {
      const unsigned lane = first_of(left);
      const bool same = loop ? next.positions[lane] == position && key_path(next.keys[lane]) == key_path(key) &&
                                   key_event(next.keys[lane]) == Event::back_edge
                             : next.keys[lane] == key;
      together |= static_cast<uint32_t>(same) << lane;
    }
    uint64_t values[log_lanes];
    const bool has_values = key_event(key) != Event::basic_block && !loop;
    for (uint32_t left = together; left; left &= left - 1) {
      const unsigned lane = first_of(left);
      if (has_values) values[lane] = log.values[heads[lane]][lane];
      heads[lane]++;
    }
    execute(warp, key, together, values);
    if (together & waiting) waiting = 0;
    changed = together;
  }
}

// Those that were put together to the warp's, and those that its log has still.
uint64_t Recorder::accesses_so_far(unsigned thread) const {
  const WarpState& warp = warps_[thread / log_lanes];
  uint64_t accesses = lane_accesses_[thread] + warp.full_rows;
  const uint64_t* const end = lanes_[thread].next;
  if (warp.log && end) {
    for (const uint64_t* key = &warp.log->keys[0][thread % log_lanes]; key < end; key += log_lanes)
      accesses += key_event(*key) <= Event::atomic && !key_is_bulk(*key);
  }
  return accesses;
}

void Recorder::execute(WarpState* warp, uint64_t key, uint32_t lanes, const uint64_t* values) {
  const Event event = key_event(key);
  const auto warp_number = static_cast<unsigned>(warp - warps_.data());
  if (event == Event::basic_block) tracer_.enter(warp_number, key_pc(key), lanes);
  if (event == Event::basic_block || !collector_) return;
  if (event == Event::back_edge) return collector_->jump_back(warp_number, key_pc(key));
  if (event == Event::barrier || event == Event::warp_operation) {
    if (is_tracing_) tracer_.synchronise(warp_number, event, key_pc(key), lanes);
    collector_->synchronisation(warp_number, key, values[first_of(lanes)]);
    return;
  }
  if (key_is_bulk(key)) return collector_->copy_in_bulk(key, lanes, values);
  if (event != Event::store) {
    // Wherever it comes from, another block's shared memory too.
    const unsigned bytes = key_bytes(key);
    if (lanes == all_lanes) {
      warp->full_row_bytes += bytes;
    } else {
      for (uint32_t left = lanes; left; left &= left - 1) warp->received[first_of(left)] += bytes;
    }
  }
  const uint64_t loaded = collector_->loaded();
  lanes = collector_->access(warp_number, key, lanes, values);
  loaded_[warp_number] += collector_->loaded() - loaded;
  if (is_tracing_) tracer_.access(warp_number, event, key_bytes(key), key_pc(key), lanes, values);
  if (lanes == all_lanes) {
    warp->full_rows++;
  } else {
    for (uint32_t left = lanes; left; left &= left - 1) warp->accesses[first_of(left)]++;
  }
}

}  // namespace simt
