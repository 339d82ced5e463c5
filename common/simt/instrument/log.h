// What the threads of a warp did, before it is put together to warp instructions.
//
// Every lane appends events to its own column. Lanes run one after the other, each far ahead of the next, so column by
// column; they are read row by row, which in convergent code is a warp instruction.
#pragma once

#include <cstdint>

namespace simt {

// basic_block: only in blocks that are traced (timing/tracer.h).
enum class Event : uint8_t { load, store, atomic, back_edge, barrier, warp_operation, basic_block };

// An event's key says where and what: | path 16 | pc 32 | event 8 | volatile 1 | bytes 7 |. Lanes execute an
// instruction together only if their keys are equal. `path` numbers the chain of calls that led here (paths.h); `pc` is
// relative to the kernel's module.
constexpr unsigned key_path_shift = 48, key_pc_shift = 16, key_event_shift = 8;

inline unsigned key_path(uint64_t key) { return static_cast<unsigned>(key >> key_path_shift); }
inline uint32_t key_pc(uint64_t key) { return static_cast<uint32_t>(key >> key_pc_shift); }
inline Event key_event(uint64_t key) { return static_cast<Event>(key >> key_event_shift & 0xff); }
constexpr unsigned key_volatile = 0x80;  // added to the bytes; of an atomic: it is a store, which reads nothing
// Of a copy in bulk: up to 32 pieces of 16 bytes one after the other, whose number less 1 stands in the place of the
// bytes.
constexpr unsigned key_bulk = 0x40, bulk_piece = 16, bulk_pieces = 32;
inline bool key_is_bulk(uint64_t key) { return key & key_bulk; }
inline unsigned key_bytes(uint64_t key) { return key_is_bulk(key) ? bulk_piece * ((key & 0x1f) + 1) : key & 0x1f; }
inline bool key_is_volatile(uint64_t key) { return key & key_volatile; }
constexpr unsigned bulk_bytes(unsigned pieces) { return key_bulk | (pieces - 1); }
constexpr uint64_t key_meta(Event event, unsigned bytes) {
  return static_cast<uint64_t>(event) << key_event_shift | bytes;
}

// Events that a lane may be ahead. What all events need of a warp's log is 32 KiB: it stays in the first cache.
constexpr unsigned log_rows = 64;
constexpr unsigned log_lanes = 32;
// Further rows, for a lane within an atomic: if it paused there, others would change what its exchange compares with,
// and it would try again.
constexpr unsigned log_spare_rows = 8;
constexpr unsigned log_most_rows = log_rows + log_spare_rows;
constexpr unsigned log_part = log_most_rows * log_lanes;  // from one array of a log to the next

struct WarpLog {
  uint64_t keys[log_most_rows][log_lanes];
  // The address; for a barrier or a warp operation its place in the source (recorder.h); for a back edge the pc,
  // relative to the module, that it left from; for a basic block anything.
  uint64_t values[log_most_rows][log_lanes];
  // Of plain stores, while an observer looks on: what was stored, its upper half if it has 16 bytes, and a StoreEffect.
  uint64_t stored[log_most_rows][log_lanes], stored_high[log_most_rows][log_lanes], effects[log_most_rows][log_lanes];
};
// Where the arrays lie, counted in arrays from `keys`.
constexpr unsigned log_stored = 2, log_stored_high = 3, log_effects = 4;

// Has a store changed the memory? Unknown of one that was recorded in pieces.
enum class StoreEffect : uint64_t { change, none, unknown };

// Are the keys of these lanes, at least one, all the same?
inline bool all_equal(const uint64_t* row, uint32_t lanes) {
  uint64_t difference = 0;
  if (lanes == 0xffffffffu) {
    for (unsigned lane = 0; lane < log_lanes; lane++) difference |= row[lane] ^ row[0];
  } else {
    const uint64_t first = row[__builtin_ctz(lanes)];
    for (uint32_t left = lanes; left; left &= left - 1) difference |= row[__builtin_ctz(left)] ^ first;
  }
  return difference == 0;
}

// A lane's position in its column and in the program.
struct LaneLog {
  uint64_t* next;     // where its next key goes; the value goes log_part further
  uint64_t* end;      // equal to next: no room (or no log yet)
  uint64_t* shown;    // the first that the observer has not seen
  uint64_t frame;     // path and the module's base: frame + (pc << key_pc_shift) + meta is a key
  uintptr_t last_pc;  // of the last event or basic block in the current call
};

// A lane's last events that are no longer in its log, the latest first. Basic blocks are left out: they are recorded of
// some thread blocks only.
struct RecentEvents {
  static constexpr unsigned most = 4;
  uint64_t keys[most], values[most];
};

}  // namespace simt
