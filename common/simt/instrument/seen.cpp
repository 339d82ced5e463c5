// Accesses that the compiler has not announced (announce/): what seen.S finds outside of the thread's local memory.
#include "recorder.h"

namespace simt {

namespace {

// Is the access among the lane's last, as the hooks have recorded them? What was announced in another part of the code
// than it happens in is not counted twice; but this instruction's own are other rounds of a loop, and no announcement
// stands before a barrier whose access comes after it.
bool is_recorded(const LaneLog* lane, uintptr_t address, size_t bytes, Event event, uintptr_t pc) {
  const uint64_t own = lane->frame + (static_cast<uint64_t>(pc) << key_pc_shift);
  constexpr int last = 4;
  const uint64_t* const begin = lane->end - log_rows * log_lanes;
  const uint64_t* slot = lane->next;
  for (int i = 0; i < last && lane->next && slot - begin >= static_cast<ptrdiff_t>(log_lanes); i++) {
    slot -= log_lanes;
    if (key_event(slot[0]) == Event::barrier) return false;
    if (slot[0] >> key_pc_shift == own >> key_pc_shift) continue;
    const uintptr_t offset = address - slot[log_rows * log_lanes];
    if (key_event(slot[0]) == event && offset < key_bytes(slot[0]) && bytes <= key_bytes(slot[0]) - offset) return true;
  }
  return false;
}

}  // namespace

// Called by seen.S.
extern "C" void simt_seen(uintptr_t address, size_t bytes, int kind, uintptr_t pc) {
  LaneLog* const lane = recording.lane;
  if (!lane || !bytes) return;
  if (kind == 2) {
    record_in_order(address, static_cast<unsigned>(bytes), AccessKind::atomic, pc);
    return;
  }
  const Event event = kind ? Event::store : Event::load;
  if (is_recorded(lane, address, bytes, event, pc)) return;
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0) return record(address, static_cast<unsigned>(bytes), event, pc, false);
  record_pieces(address, bytes, event, pc);
}

}  // namespace simt
