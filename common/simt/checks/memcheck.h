// memcheck: accesses outside of every buffer, to freed memory, through null pointers, to host memory, and vector
// accesses that are not aligned. Found before they happen, but only told apart here: whoever asks reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buffers.h"
#include "observer.h"

namespace simt::checks {

class Memcheck {
 public:
  explicit Memcheck(const Buffers& buffers) : buffers_(buffers) {}

  void launch_begin();

  struct Finding {
    const char* what;  // nullptr: the access is right
    std::string detail;
  };
  // Also gives the range around a right access within which every other that is naturally aligned is right, too.
  Finding look_at(const BlockInfo& block, const Access& access, Allocation* right);

  // Is this one of the program's own variables, such as a __device__ variable?
  bool is_variable(uintptr_t address) {
    const Range* range = program_data(address);
    return range && range->is_module;
  }

 private:
  struct Range {
    uintptr_t begin, end;
    bool is_module;  // else the launching thread's
  };

  Finding look_at_global(const BlockInfo& block, const Access& access, Allocation* right) const;
  Finding look_at_shared(const BlockInfo& block, const Access& access, Allocation* right) const;
  Finding look_at_other(const BlockInfo& block, const Access& access, Allocation* right);
  const Range* program_data(uintptr_t address);

  const Buffers& buffers_;
  std::vector<Range> program_;  // loaded modules and the launching thread's stack: variables, constants, arguments
};

}  // namespace simt::checks
