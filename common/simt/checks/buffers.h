// The ranges of device memory that have names, and memory that was freed: what memcheck and the messages go by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "../memory.h"

namespace simt::checks {

struct Buffer {
  uintptr_t begin;
  std::string name;
  size_t rows, cols, element_bytes;
  size_t bytes() const { return rows * cols * element_bytes; }
};

class Buffers {
 public:
  void name(const Buffer& buffer) { named_[buffer.begin] = buffer; }
  void forget_names() { named_.clear(); }
  void allocated(uintptr_t begin, size_t bytes);
  void freed(uintptr_t begin, size_t bytes);

  // Is this address part of an allocation that has not been freed?
  bool is_live(uintptr_t address) const { return find(live_, address) != live_.end(); }

  // The named buffer that lies nearest in the same allocation; nullptr if the allocation has none.
  const Buffer* nearest(uintptr_t address) const;

  // May a kernel touch these bytes of device memory? `right`: the range around the address that it may touch.
  bool allows(uintptr_t address, size_t bytes, Allocation* right) const;

  // The allocation that the address lies near to, outside: at most 256 bytes away. Further
  // off may be the host's memory.
  struct Neighbour {
    size_t distance;  // from its last byte, or its first
    bool before;
    size_t bytes;  // of the allocation
  };
  std::optional<Neighbour> neighbour(uintptr_t address) const;

  // Was this address part of an allocation that has been freed?
  bool was_freed(uintptr_t address) const;

  // "row 3 of y" where the address is that of the first element of row 4; else "".
  std::string row_before(uintptr_t address) const;
  // Is that the length of a named buffer's rows?
  bool is_row_length(size_t elements) const;

  // "element 4097 of x[64 x 64]", "byte 12 of an allocation of 400 bytes", "an address 4 bytes past the end
  // of an allocation of 400 bytes".
  std::string describe(uintptr_t address) const;

 private:
  using Ranges = std::map<uintptr_t, size_t>;
  static Ranges::const_iterator find(const Ranges& ranges, uintptr_t address);

  std::map<uintptr_t, Buffer> named_;
  Ranges live_, freed_;
};

}  // namespace simt::checks
