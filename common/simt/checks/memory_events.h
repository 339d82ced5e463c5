// What the checks learn from the runtime API: which device memory the host has written, and what is freed.
#pragma once

#include <cstddef>

namespace simt::checks {

// Called by cudaMalloc, cudaFree, cudaMemcpy, cudaMemset. Cheap while no check is running.
void allocated(const void* begin, size_t bytes);
void freed(const void* begin, size_t bytes);
void host_wrote(const void* begin, size_t bytes);

}  // namespace simt::checks
