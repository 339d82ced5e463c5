#include "device_order.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../devices.h"

namespace simt::checks {

namespace {

struct Device {
  DeviceClock known = {};
  DeviceClock published = {};  // at its last fence
};
Device devices[max_devices];
// By address of a flag: what those who wrote it had published.
std::unordered_map<uintptr_t, DeviceClock>& flags() {
  static auto* const all = new std::unordered_map<uintptr_t, DeviceClock>;
  return *all;
}

// Of 4 bytes: the last write, and of each device the last read. Time 0: none.
struct Access {
  uint32_t time = 0;
  int device = no_device;
  uintptr_t pc = 0;
  bool orders = false;
};
struct Word {
  Access write;
  std::vector<Access> reads;  // one per device
};
constexpr size_t word_bytes = 4, words_per_page = 256;
using Page = std::array<Word, words_per_page>;

Word& word_of(uintptr_t address) {
  static auto* const pages = new std::unordered_map<uintptr_t, std::unique_ptr<Page>>;
  const uintptr_t number = address / word_bytes;
  std::unique_ptr<Page>& page = (*pages)[number / words_per_page];
  if (!page) page = std::make_unique<Page>();
  return (*page)[number % words_per_page];
}

size_t index(int device) { return static_cast<size_t>(device); }

bool is_before(const Access& before, const Device& now) { return before.time <= now.known[index(before.device)]; }

}  // namespace

void join(DeviceClock* clock, const DeviceClock& other) {
  for (size_t d = 0; d < clock->size(); d++) (*clock)[d] = std::max((*clock)[d], other[d]);
}

void device_begins(int device, const DeviceClock& host) {
  join(&devices[device].known, host);
  devices[device].known[index(device)]++;
}
DeviceClock device_ends(int device) { return devices[device].known; }

void device_fences(int device) {
  Device& own = devices[device];
  own.published = own.known;
  own.known[index(device)]++;
}

void devices_meet(int count, const int* which) {
  DeviceClock all = {};
  for (int i = 0; i < count; i++) join(&all, devices[which[i]].known);
  for (int i = 0; i < count; i++) {
    join(&devices[which[i]].known, all);
    devices[which[i]].known[index(which[i])]++;
  }
}

std::optional<DeviceRace> device_accesses(const DeviceAccess& access) {
  Device& own = devices[access.device];
  if (access.orders && access.reads) {
    const auto flag = flags().find(access.address);
    if (flag != flags().end()) join(&own.known, flag->second);
  }
  if (access.orders && access.writes) join(&flags()[access.address], own.published);
  const Access now = {own.known[index(access.device)], access.device, access.pc, access.orders};
  for (uintptr_t at = access.address / word_bytes * word_bytes; at < access.address + access.bytes; at += word_bytes) {
    Word& word = word_of(at);
    const auto races = [&](const Access& before) {
      return before.time && before.device != access.device && !before.orders && !access.orders &&
             !is_before(before, own);
    };
    if (races(word.write)) return DeviceRace{word.write.device, at, word.write.pc, true};
    if (access.writes) {
      for (const Access& read : word.reads) {
        if (races(read)) return DeviceRace{read.device, at, read.pc, false};
      }
      word.write = now;
      word.reads.clear();
    } else {
      if (word.reads.empty()) word.reads.resize(index(device_count()));
      word.reads[index(access.device)] = now;
    }
  }
  return std::nullopt;
}

}  // namespace simt::checks
