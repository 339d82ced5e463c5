// Memory that kernels allocate with malloc and new in a program under --check: a range of its own, so that memcheck can
// tell it from the host's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt::device_heap {

// Called by kernels. nullptr when the heap is full.
void* allocate(size_t bytes);
void release(void* pointer);

bool contains(uintptr_t address);

}  // namespace simt::device_heap
