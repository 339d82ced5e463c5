// Accesses that the compiler has not announced (announce/): what seen.S finds outside of the thread's local memory.
#include "recorder.h"

namespace simt {

// What was announced in another part of the code than it happens in is not counted twice; but this instruction's own
// are other rounds of a loop, and no announcement stands before a barrier whose access comes after it.
bool Recorder::was_announced(uintptr_t address, size_t bytes, Event event, uintptr_t pc) const {
  const LaneLog* const lane = recording.lane;
  const auto thread = static_cast<size_t>(lane - lanes_.data());
  const uint64_t own = lane->frame + (static_cast<uint64_t>(pc) << key_pc_shift);
  const auto is_it = [&](uint64_t key, uint64_t value) {
    if (key >> key_pc_shift == own >> key_pc_shift || key_event(key) != event) return false;
    const uintptr_t offset = address - value;
    return offset < key_bytes(key) && bytes <= key_bytes(key) - offset;
  };
  unsigned looked_at = 0;
  if (const WarpLog* const log = warps_[thread / log_lanes].log.get()) {
    const unsigned column = thread % log_lanes;
    const auto count = static_cast<unsigned>(lane->next - &log->keys[0][column]) / log_lanes;
    for (unsigned row = count; row-- > 0 && looked_at < RecentEvents::most;) {
      const uint64_t key = log->keys[row][column];
      if (key_event(key) == Event::basic_block) continue;
      if (key_event(key) == Event::barrier) return false;
      if (is_it(key, log->values[row][column])) return true;
      looked_at++;
    }
  }
  const RecentEvents& recent = recent_[thread];
  for (unsigned i = 0; looked_at < RecentEvents::most; i++, looked_at++) {
    if (key_event(recent.keys[i]) == Event::barrier) return false;
    if (is_it(recent.keys[i], recent.values[i])) return true;
  }
  return false;
}

// Before each lane's events up to heads[lane] leave the log.
void Recorder::keep_recent(unsigned warp, const unsigned* heads) {
  const WarpLog& log = *warps_[warp].log;
  for (unsigned lane = 0; lane < log_lanes; lane++) {
    RecentEvents& recent = recent_[warp * log_lanes + lane];
    const RecentEvents before = recent;
    unsigned kept = 0;
    for (unsigned row = heads[lane]; row-- > 0 && kept < RecentEvents::most;) {
      if (key_event(log.keys[row][lane]) == Event::basic_block) continue;
      recent.keys[kept] = log.keys[row][lane];
      recent.values[kept++] = log.values[row][lane];
    }
    for (unsigned i = 0; kept < RecentEvents::most; i++, kept++) {
      recent.keys[kept] = before.keys[i];
      recent.values[kept] = before.values[i];
    }
  }
}

// Called by seen.S.
extern "C" void simt_seen(uintptr_t address, size_t bytes, int kind, uintptr_t pc) {
  if (!recording.lane || !bytes) return;
  if (kind == 2) {
    record_in_order(address, static_cast<unsigned>(bytes), AccessKind::atomic, pc);
    return;
  }
  const Event event = kind ? Event::store : Event::load;
  if (recording.recorder->was_announced(address, bytes, event, pc)) return;
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0) return record(address, static_cast<unsigned>(bytes), event, pc, false);
  record_pieces(address, bytes, event, pc);
}

}  // namespace simt
