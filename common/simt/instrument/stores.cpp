// What plain stores store. A hook is called before its store, so the value is read from memory later: before the next
// store of this OS thread, or before the observer is shown the log.
#include <cstring>

#include "recorder.h"

namespace simt {

namespace {

void load(uint64_t* to, uintptr_t address, unsigned bytes) {
  const void* const from = reinterpret_cast<const void*>(address);
  switch (bytes) {  // each is one load
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    case 2: std::memcpy(to, from, 2); break;
    default: std::memcpy(to, from, 1);
  }
}

}  // namespace

void note_store(uint64_t* slot, uintptr_t address, unsigned bytes, bool whole) {
  settle_store();
  if (!whole) {
    slot[log_effects * log_part] = static_cast<uint64_t>(StoreEffect::unknown);
    return;
  }
  auto& store = recording.store;
  store.slot = slot;
  store.address = address;
  store.bytes = bytes;
  store.before[0] = store.before[1] = 0;
  load(store.before, address, bytes);
}

void settle_store() {
  auto& store = recording.store;
  if (!store.slot) return;
  uint64_t now[2] = {0, 0};
  load(now, store.address, store.bytes);
  const bool same = now[0] == store.before[0] && now[1] == store.before[1];
  store.slot[log_stored * log_part] = now[0];
  store.slot[log_stored_high * log_part] = now[1];
  store.slot[log_effects * log_part] = static_cast<uint64_t>(same ? StoreEffect::none : StoreEffect::change);
  store.slot = nullptr;
}

}  // namespace simt
