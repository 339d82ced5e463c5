#include "footprint.h"

#include <algorithm>

namespace simt::counters {

Region* Footprint::find(uint64_t address) const {
  const auto after =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](uint64_t a, const std::unique_ptr<Region>& region) { return a < region->begin; });
  if (after == regions_.begin()) return nullptr;
  Region* const region = std::prev(after)->get();
  return region->contains(address) ? region : nullptr;
}

uint64_t Footprint::sectors_read() const {
  uint64_t sum = 0;
  for (const auto& region : regions_) sum += region->read.count();
  return sum;
}

uint64_t Footprint::sectors_written() const {
  uint64_t sum = 0;
  for (const auto& region : regions_) sum += region->written.count();
  return sum;
}

}  // namespace simt::counters
