// memcheck: accesses outside of every buffer, to freed memory, through null pointers, and vector accesses that are not
// aligned. Found before they happen, but only told apart here: whoever asks reports.
//
// A kernel has a GPU's memory and no other: device memory, its block's shared memory, the local memory of its own
// thread; and to read, constants and the arguments of its launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../cluster.h"
#include "buffers.h"
#include "observer.h"

namespace simt::checks {

class Memcheck {
 public:
  explicit Memcheck(const Buffers& buffers) : buffers_(buffers) {}

  void launch_begin(const LaunchInfo& launch);

  struct Finding {
    const char* what;  // nullptr: the access is right
    std::string detail;
    bool beyond_dynamic = false;  // of dynamic shared memory: the detail has no cure yet
  };
  // Also gives the range around a right access within which every other that is naturally aligned is right, too.
  Finding look_at(const BlockInfo& block, const Access& access, Allocation* right);

  // Is this one of the program's own variables: __device__, __constant__ or const?
  bool is_variable(uintptr_t address) {
    const Range* range = program_data(address);
    return range && range->kind <= Kind::read_only;
  }

 private:
  enum class Kind { variable, constant, read_only, argument, built_in };
  struct Range {
    uintptr_t begin, end;
    Kind kind;
  };

  Finding look_at_global(const BlockInfo& block, const Access& access, Allocation* right) const;
  Finding look_at_remote(const BlockInfo& block, const Access& access, const Cluster::Remote& remote) const;
  Finding look_at_shared(const BlockInfo& block, const Access& access, Allocation* right) const;
  Finding look_at_other(const BlockInfo& block, const Access& access, Allocation* right);
  Finding look_at_program(const Range& range, const Access& access, const std::string& text, Allocation* right) const;
  void add_module(const void* code);
  const Range* program_data(uintptr_t address);

  const Buffers& buffers_;
  std::vector<Range> program_;  // what a kernel may touch besides allocations, shared and local memory
};

}  // namespace simt::checks
