// The device's memory as the executor's other parts see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

struct Allocation {
  uintptr_t begin;
  size_t bytes;
};

// Every allocation that has not been freed, by rising address.
std::vector<Allocation> live_allocations();

// Where instrumented modules have their __device__ variables, by rising address: their writable data.
std::vector<Allocation> device_variables();

}  // namespace simt
