// Copies in bulk between global and shared memory (cp.async.bulk). One thread starts such a copy by one instruction and
// an engine moves the bytes: they count as the block's, and as no accesses of that thread. Whoever works on them reads
// them from shared memory, which counts as ever.
#include <algorithm>

#include "../block.h"
#include "recorder.h"

namespace simt {

namespace {

constexpr unsigned bulk_chunk = bulk_piece * bulk_pieces;

}  // namespace

void Recorder::copy_in_bulk(const void* to_address, const void* from_address, unsigned bytes, uintptr_t pc) {
  if (!recording.lane) return;
  settle_store();
  const auto to = reinterpret_cast<uintptr_t>(to_address), from = reinterpret_cast<uintptr_t>(from_address);
  // What no engine copies, as from one array of a thread's to another, is the thread's own doing.
  const bool is_bulk = counters::is_shared(to) != counters::is_shared(from);
  for (unsigned at = 0; at < bytes; at += bulk_chunk) {
    const unsigned here = std::min(bytes - at, bulk_chunk);
    if (is_bulk && record_bulk(from + at, here, AccessKind::load, pc) &&
        record_bulk(to + at, here, AccessKind::store, pc))
      continue;
    for (unsigned piece = at; piece < at + here; piece += bulk_piece) {
      record({pc, from + piece, bulk_piece, true, AccessKind::load});
      record({pc, to + piece, bulk_piece, false, AccessKind::store});
    }
  }
}

// Is every piece in device or shared memory? The observer says so, and ends the process where one is in none.
bool Recorder::record_bulk(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc) {
  for (unsigned at = 0; at < bytes; at += bulk_piece) {
    if (address + at - simt_local.begin < simt_local.bytes) return false;
    if (!is_recorded({pc, address + at, bulk_piece, true, kind})) return false;
  }
  LaneLog* const lane = recording.lane;
  lane->last_pc = pc;
  if (!has_room(lane)) make_room(lane);
  const Event event = kind == AccessKind::load ? Event::load : Event::store;
  append(lane, key_at(lane, pc, event, bulk_bytes(bytes / bulk_piece)), address);
  if (kind == AccessKind::store && recording.observer) note_store(lane->next - log_lanes, address, bulk_piece, false);
  return true;
}

void Recorder::show_bulk(unsigned warp, uint64_t key, uint32_t lanes, const uint64_t* values) {
  const uint64_t nothing[log_lanes] = {};
  const StoredByLanes unknown = {nothing, nothing, 0, 0};
  const bool stores = key_event(key) == Event::store;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    uint64_t addresses[log_lanes] = {};
    for (unsigned at = 0; at < key_bytes(key); at += bulk_piece) {
      addresses[lane] = values[lane] + at;
      LanesAccess access = {base_ + key_pc(key),
                            bulk_piece,
                            stores ? AccessKind::store : AccessKind::load,
                            warp,
                            left & -left,
                            addresses,
                            stores ? &unknown : nullptr};
      recording.observer->accesses(access);
    }
  }
}

}  // namespace simt
