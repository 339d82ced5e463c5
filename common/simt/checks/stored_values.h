// What the last stores to a page left there: racecheck's, which lets stores of equal values pass.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "observer.h"

namespace simt::checks {

class StoredValues {
 public:
  static constexpr uintptr_t page_bytes = 4096;

  // Stores of `threads` lanes from `lane` on, which follow each other from `offset` in the page on. A store in `same`
  // has left the memory as it was.
  void store(uintptr_t offset, const LanesAccess& access, unsigned lane, unsigned threads, uint32_t same) {
    const StoredByLanes* const by = access.stored;
    const uint32_t lanes = (threads < 32 ? (uint32_t{1} << threads) - 1 : ~uint32_t{0}) << lane;
    mark(known_, offset, access.bytes, lane, threads, by ? by->known : 0, lanes);
    if (!by) return;
    mark(same_, offset, access.bytes, lane, threads, same, lanes);
    uint8_t* const to = &bytes_[offset];
    switch (access.bytes) {
      case 1: return copy<uint8_t>(to, by->low + lane, threads);
      case 2: return copy<uint16_t>(to, by->low + lane, threads);
      case 4: return copy<uint32_t>(to, by->low + lane, threads);
      case 8: return copy<uint64_t>(to, by->low + lane, threads);
      default:
        for (unsigned i = 0; i < threads; i++) {
          std::memcpy(to + i * 16, by->low + lane + i, 8);
          std::memcpy(to + i * 16 + 8, by->high + lane + i, 8);
        }
    }
  }

  // Is what `lane` stores in the `width` bytes at `offset` what the last store left there? `at` counts from where the
  // lane's store begins.
  bool equals(uintptr_t offset, unsigned width, const StoredByLanes& by, unsigned lane, unsigned at) const {
    if (!(by.known >> lane & 1) || !bit(known_, offset)) return false;
    const uint64_t value[2] = {by.low[lane], by.high[lane]};
    return std::memcmp(&bytes_[offset], reinterpret_cast<const char*>(value) + at, width) == 0;
  }

  // Did the last store there leave the memory as it was?
  bool is_same(uintptr_t offset) const { return bit(known_, offset) && bit(same_, offset); }

 private:
  using Bits = std::array<uint64_t, page_bytes / 64>;

  static bool bit(const Bits& bits, uintptr_t offset) { return bits[offset / 64] >> offset % 64 & 1; }

  template <typename T>
  static void copy(uint8_t* to, const uint64_t* from, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
      const T value = static_cast<T>(from[i]);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
  }

  // Sets or clears a bit per byte, by lane as `by_lane` says.
  static void mark(Bits& bits, uintptr_t offset, unsigned width, unsigned lane, unsigned threads, uint32_t by_lane,
                   uint32_t lanes) {
    if ((by_lane & lanes) == 0 || (by_lane & lanes) == lanes)
      return set(bits, offset, threads * width, by_lane & lanes);
    for (unsigned i = 0; i < threads; i++) set(bits, offset + i * width, width, by_lane >> (lane + i) & 1);
  }
  static void set(Bits& bits, uintptr_t offset, unsigned count, bool value) {
    for (const uintptr_t end = offset + count; offset < end;) {
      const uintptr_t bit = offset % 64, here = end - offset < 64 - bit ? end - offset : 64 - bit;
      const uint64_t mask = ~uint64_t{0} >> (64 - here) << bit;
      uint64_t& word = bits[offset / 64];
      word = value ? word | mask : word & ~mask;
      offset += here;
    }
  }

  std::array<uint8_t, page_bytes> bytes_;
  Bits known_ = {}, same_ = {};
};

}  // namespace simt::checks
