// Memory that kernels allocate with malloc and new in a program under --check and in a worker: a range of its own, so
// that memcheck can tell it from the host's. What kernels do in it counts as in other global memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.h"

namespace simt::device_heap {

// Called by kernels. nullptr when the heap is full.
void* allocate(size_t bytes);
void release(void* pointer);

bool contains(uintptr_t address);

// All of it; empty before the first allocation.
Allocation range();

}  // namespace simt::device_heap
