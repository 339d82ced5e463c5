// memcheck: accesses outside of every buffer, to freed memory, through null pointers, to host memory, and vector
// accesses that are not aligned. Found before they happen.
#pragma once

#include <cstdint>
#include <vector>

#include "buffers.h"
#include "observer.h"

namespace simt::checks {

class Memcheck {
 public:
  explicit Memcheck(const Buffers& buffers) : buffers_(buffers) {}

  void launch_begin();
  void access(const BlockInfo& block, const ThreadId& thread, const Access& access);

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

  void check_other(const BlockInfo& block, const ThreadId& thread, const Access& access);
  const Range* program_data(uintptr_t address);

  const Buffers& buffers_;
  std::vector<Range> program_;  // loaded modules and the launching thread's stack: variables, constants, arguments
};

}  // namespace simt::checks
