// The device that the executor models, and the last error.
#pragma once

#include <cuda_runtime.h>

#include "refusal.h"

namespace simt {

// What of a launch is beyond the limits of the device; of its kernel; and, since a cooperative launch needs room for
// all of its blocks at once, of what the device holds.
Excess beyond_device(const LaunchConfig& config);
Excess beyond_kernel(const LaunchConfig& config, const void* function);
Excess beyond_residence(const LaunchConfig& config, const void* function);

// Bytes of dynamic shared memory that a kernel may be launched with.
size_t shared_limit(const void* function);

// Remembers an error for cudaGetLastError, and that it was returned here; returns it.
cudaError_t set_last_error(cudaError_t error, const char* function = __builtin_FUNCTION());

// Of managed memory that is allocated: no advice holds (memory_advice.cpp).
void forget_advice(const void* pointer, size_t bytes);

}  // namespace simt
