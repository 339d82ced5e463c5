// The functions that kernels can call, by the names that a linker knows. What is on no list is the host's.
#pragma once

namespace simt::apart {

// May kernels call it as it is?
bool is_device_function(const char* name);

// The device's version of a function that the host has another one of: those that write through a pointer say so, as
// every store of a kernel does; memory is that of the device's heap. nullptr if there is none.
const void* device_version(const char* name);

}  // namespace simt::apart
