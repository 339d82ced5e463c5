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

 private:
  struct Range {
    uintptr_t begin, end;
  };

  void check_other(const BlockInfo& block, const ThreadId& thread, const Access& access);
  bool is_program_data(uintptr_t address);

  const Buffers& buffers_;
  std::vector<Range> program_;  // loaded modules and the launching thread's stack: variables, constants, arguments
};

}  // namespace simt::checks
