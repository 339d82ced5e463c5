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

// Whether the host's code is kept away from device memory, as on a GPU: what cudaMalloc gives from now on can be
// touched only while a kernel runs or the runtime itself copies. Managed, pinned and registered memory stays open. On
// while the checks run.
void guard_device_memory(bool on);

// Whether the address is in device memory that is kept from the host.
bool is_guarded(uintptr_t address);

// Opens guarded device memory for as long as it lives.
class DeviceMemoryOpen {
 public:
  DeviceMemoryOpen();
  ~DeviceMemoryOpen();
  DeviceMemoryOpen(const DeviceMemoryOpen&) = delete;
};

}  // namespace simt
