// What the runtime API asks of the device: memory, copies, launches, products. The device is in this process, or, for
// the host code of a rung, in another (apart/).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "matrix_product.h"
#include "memory.h"

namespace simt {

// Who else may touch an allocation: kernels always, the host only what is managed (or pinned, which is the same here).
enum class Sharing { device_only, with_host };

class DeviceService {
 public:
  virtual ~DeviceService() = default;

  // bytes > 0. Errors: cudaErrorMemoryAllocation.
  virtual cudaError_t allocate(void** pointer, size_t bytes, Sharing sharing) = 0;
  virtual cudaError_t free(void* pointer) = 0;
  // Memory of the host's own that kernels may use.
  virtual cudaError_t register_host(void* pointer, size_t bytes) = 0;
  virtual cudaError_t unregister_host(void* pointer) = 0;

  // The allocation that holds an address. False if there is none.
  virtual bool find(const void* pointer, Allocation* allocation, Sharing* sharing) = 0;
  virtual size_t allocated_bytes() = 0;
  // Is it device memory that host code cannot touch? Without a lock: it is asked when a fault is being reported.
  virtual bool keeps_from_host(uintptr_t address) = 0;

  // bytes > 0, no pointer null, a kind that there is.
  virtual cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) = 0;
  virtual cudaError_t set(void* pointer, int value, size_t bytes) = 0;

  // Where a variable of the program is on the device.
  virtual void* symbol(void* variable) = 0;

  // Runs the grid to its end. The launch is within all limits (device.h).
  virtual cudaError_t launch(const LaunchConfig& config, const BoundKernel& kernel, bool cooperative) = 0;
  virtual cudaError_t multiply(const MatrixProduct& product) = 0;
};

DeviceService& device();

// From now on for the whole process. The service stays the caller's.
void set_device(DeviceService* service);

// The device of this process itself.
DeviceService& local_device();

}  // namespace simt
