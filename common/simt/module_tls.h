// Static shared memory: variables that a kernel declares __shared__ are thread-local in the module that the kernel is
// in.
#pragma once

#include <cstddef>

namespace simt {

// The calling OS thread's copy of a module's thread-local variables. Empty if the module has none.
struct ModuleTls {
  unsigned char* begin = nullptr;
  size_t bytes = 0;
  size_t initialised_bytes = 0;  // at the front: not __shared__ variables, which have no initial value
  bool main_program = false;     // holds thread-local variables of others too

  bool contains(const void* address) const {
    return static_cast<size_t>(static_cast<const unsigned char*>(address) - begin) < bytes;
  }
};

// Of the module that holds this code.
ModuleTls module_tls(const void* code);

}  // namespace simt
