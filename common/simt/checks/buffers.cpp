#include "buffers.h"

#include <algorithm>

#include "report.h"

namespace simt::checks {

Buffers::Ranges::const_iterator Buffers::find(const Ranges& ranges, uintptr_t address) {
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return ranges.end();
  const auto range = std::prev(after);
  return address - range->first < range->second ? range : ranges.end();
}

void Buffers::allocated(uintptr_t begin, size_t bytes) {
  live_[begin] = bytes;
  // The allocator has used these addresses again.
  for (auto range = freed_.begin(); range != freed_.end();) {
    const bool overlaps = range->first < begin + bytes && begin < range->first + range->second;
    range = overlaps ? freed_.erase(range) : std::next(range);
  }
}

void Buffers::freed(uintptr_t begin, size_t bytes) {
  live_.erase(begin);
  freed_[begin] = bytes;
  named_.erase(named_.lower_bound(begin), named_.lower_bound(begin + bytes));
}

const Buffer* Buffers::nearest(uintptr_t address) const {
  const auto allocation = find(live_, address);
  if (allocation == live_.end()) return nullptr;
  const Buffer* best = nullptr;
  uintptr_t best_distance = ~uintptr_t{0};
  const auto end = named_.lower_bound(allocation->first + allocation->second);
  for (auto at = named_.lower_bound(allocation->first); at != end; ++at) {
    const Buffer& buffer = at->second;
    const uintptr_t last = buffer.begin + buffer.bytes();
    const uintptr_t distance = address < buffer.begin ? buffer.begin - address
                               : address >= last      ? address - last + 1
                                                      : 0;
    if (distance < best_distance) best = &buffer, best_distance = distance;
  }
  return best;
}

bool Buffers::allows(uintptr_t address, size_t bytes, Allocation* right) const {
  const auto allocation = find(live_, address);
  if (allocation == live_.end()) return false;
  const Buffer* buffer = nearest(address);
  *right = buffer ? Allocation{buffer->begin, buffer->bytes()} : Allocation{allocation->first, allocation->second};
  return address >= right->begin && address + bytes <= right->begin + right->bytes;
}

std::optional<Buffers::Neighbour> Buffers::neighbour(uintptr_t address) const {
  std::optional<Neighbour> best;
  const auto consider = [&](Ranges::const_iterator allocation, size_t distance, bool before) {
    const size_t bytes = allocation->second;
    if (distance <= 256 && (!best || distance < best->distance)) best = {distance, before, bytes};
  };
  const auto after = live_.upper_bound(address);
  if (after != live_.begin()) {
    const auto last = std::prev(after);
    consider(last, address - (last->first + last->second) + 1, false);
  }
  if (after != live_.end()) consider(after, after->first - address, true);
  return best;
}

bool Buffers::was_freed(uintptr_t address) const { return find(freed_, address) != freed_.end(); }

std::string Buffers::row_before(uintptr_t address) const {
  const Buffer* const buffer = nearest(address);
  if (!buffer || address <= buffer->begin || buffer->cols < 2) return "";
  const size_t row_bytes = buffer->cols * buffer->element_bytes, offset = address - buffer->begin;
  if (offset % row_bytes || offset / row_bytes > buffer->rows) return "";
  return "row " + std::to_string(offset / row_bytes - 1) + " of " + buffer->name;
}

bool Buffers::is_row_length(size_t elements) const {
  return std::any_of(named_.begin(), named_.end(),
                     [&](const auto& entry) { return elements > 1 && entry.second.cols == elements; });
}

std::string Buffers::describe(uintptr_t address) const {
  if (const Buffer* buffer = nearest(address)) {
    const std::string shape =
        buffer->name + "[" + std::to_string(buffer->rows) + " x " + std::to_string(buffer->cols) + "]";
    if (address < buffer->begin) return "memory " + std::to_string(buffer->begin - address) + " bytes before " + shape;
    const size_t element = (address - buffer->begin) / buffer->element_bytes;
    std::string text = "element " + std::to_string(element) + " of " + shape;
    if (element < buffer->rows * buffer->cols) {
      text += " (row " + std::to_string(element / buffer->cols) + ", column " + std::to_string(element % buffer->cols) +
              ")";
    } else {
      text += ", which has " + std::to_string(buffer->rows * buffer->cols);
    }
    return text;
  }
  for (const bool live : {true, false}) {
    const Ranges& ranges = live ? live_ : freed_;
    const auto range = find(ranges, address);
    if (range == ranges.end()) continue;
    return "byte " + std::to_string(address - range->first) +
           (live ? " of an allocation of " : " of a freed allocation of ") + std::to_string(range->second) + " bytes";
  }
  if (const auto near = neighbour(address)) {
    return address_beside(near->distance, near->before) + " an allocation of " + std::to_string(near->bytes) + " bytes";
  }
  char text[40];
  std::snprintf(text, sizeof text, "address 0x%zx", static_cast<size_t>(address));
  return text;
}

}  // namespace simt::checks
