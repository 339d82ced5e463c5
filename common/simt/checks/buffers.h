// The ranges of device memory that have names, and memory that was freed: what memcheck and the messages go by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace simt::checks {

struct Buffer {
  uintptr_t begin;
  std::string name;
  size_t rows, cols, element_bytes;
  size_t bytes() const { return rows * cols * element_bytes; }
};

class Buffers {
 public:
  void name(const Buffer& buffer) {
    named_[buffer.begin] = buffer;
    allowed_end_ = 0;
  }
  void forget_names() {
    named_.clear();
    allowed_end_ = 0;
  }
  void allocated(uintptr_t begin, size_t bytes);
  void freed(uintptr_t begin, size_t bytes);

  // Is this address part of an allocation that has not been freed?
  bool is_live(uintptr_t address) const { return find(live_, address) != live_.end(); }

  // The named buffer that lies nearest in the same allocation; nullptr if the allocation has none.
  const Buffer* nearest(uintptr_t address) const;

  // May a kernel touch these bytes of device memory?
  bool allows(uintptr_t address, size_t bytes) const;

  // Was this address part of an allocation that has been freed?
  bool was_freed(uintptr_t address) const;

  // "element 4097 of x[64 x 64]", "2 bytes past the end of y[7 x 33]", "byte 12 of an allocation of 400 bytes".
  std::string describe(uintptr_t address) const;

 private:
  using Ranges = std::map<uintptr_t, size_t>;
  static Ranges::const_iterator find(const Ranges& ranges, uintptr_t address);

  std::map<uintptr_t, Buffer> named_;
  Ranges live_, freed_;
  mutable uintptr_t allowed_begin_ = 0, allowed_end_ = 0;  // where allows() last said yes
};

}  // namespace simt::checks
