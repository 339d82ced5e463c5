// Which 32-byte sectors of device memory a launch touched: one bit per sector, for reads and for writes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "../memory.h"
#include "rules.h"

namespace simt::counters {

class SectorSet {
 public:
  explicit SectorSet(size_t sectors) : words_(sectors / 64 + 1), bits_(new std::atomic<uint64_t>[words_]()) {}

  void add(size_t first, size_t last) {
    for (size_t word = first / 64; word <= last / 64; word++) {
      uint64_t mask = ~uint64_t{0};
      if (word == first / 64) mask &= ~uint64_t{0} << (first % 64);
      if (word == last / 64) mask &= ~uint64_t{0} >> (63 - last % 64);
      if ((bits_[word].load(std::memory_order_relaxed) & mask) != mask)
        bits_[word].fetch_or(mask, std::memory_order_relaxed);
    }
  }

  uint64_t count() const {
    uint64_t sum = 0;
    for (size_t word = 0; word < words_; word++) sum += static_cast<uint64_t>(__builtin_popcountll(bits_[word]));
    return sum;
  }

 private:
  size_t words_;
  std::unique_ptr<std::atomic<uint64_t>[]> bits_;
};

// One allocation of device memory, which begins at a multiple of 256, so that sectors are not shared between
// allocations; or the __device__ variables of a module, or its constants that came from the device.
struct Region {
  explicit Region(Allocation allocation)
      : begin(allocation.begin),
        bytes(allocation.bytes),
        read(bytes / sector_bytes + 2),
        written(bytes / sector_bytes + 2) {}

  bool contains(uint64_t address) const { return address - begin < bytes; }
  size_t sector(uint64_t address) const { return address / sector_bytes - begin / sector_bytes; }

  uint64_t begin;
  size_t bytes;
  SectorSet read, written;
};

class Footprint {
 public:
  Footprint() {
    for (const Allocation& allocation : live_allocations()) regions_.push_back(std::make_unique<Region>(allocation));
    for (const Allocation& variables : device_variables()) regions_.push_back(std::make_unique<Region>(variables));
    for (const Allocation& constants : counted_constants()) regions_.push_back(std::make_unique<Region>(constants));
    std::sort(regions_.begin(), regions_.end(), [](const auto& a, const auto& b) { return a->begin < b->begin; });
  }

  // The region that the address is in, or nullptr.
  Region* find(uint64_t address) const;

  uint64_t sectors_read() const;
  uint64_t sectors_written() const;

 private:
  std::vector<std::unique_ptr<Region>> regions_;  // by rising address
};

}  // namespace simt::counters
