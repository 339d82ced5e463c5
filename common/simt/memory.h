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

// Where instrumented modules have their __device__ variables, by rising address: their writable data but for the
// constants. And where they have their __constant__ variables.
std::vector<Allocation> device_variables();
std::vector<Allocation> constant_variables();
// Those modules' constants that were written from device memory: a kernel that reads them reads data of the device,
// which counts as global memory.
std::vector<Allocation> counted_constants();
void count_constants_at(const void* address);

// The device whose memory this is. no_device (devices.h): none's, or managed or pinned, or a variable of the program,
// which all devices share.
int owner_of(uintptr_t address);
size_t allocated_bytes_of(int device);

// Whether all of these bytes are device memory: of one allocation, or variables of an instrumented module.
bool is_device_memory(const void* begin, size_t bytes);

// Who knows what else is the host's memory, where that is in another process, says so here: for messages.
void test_for_host_memory(bool (*is_host_memory)(uintptr_t address));
bool is_host_memory(uintptr_t address);

// Whether the host's code is kept away from device memory, as on a GPU: what cudaMalloc gives from now on can be
// touched only while a kernel runs or the runtime itself copies. Managed, pinned and registered memory stays open. On
// while the checks run.
void guard_device_memory(bool on);

// Opens guarded device memory for as long as it lives.
class DeviceMemoryOpen {
 public:
  DeviceMemoryOpen();
  ~DeviceMemoryOpen();
  DeviceMemoryOpen(const DeviceMemoryOpen&) = delete;
};

}  // namespace simt
