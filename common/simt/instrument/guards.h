// The flags by which compiled code knows that a thread-local variable of a class with constructors has been made. They
// lie among the kernel's static shared variables, but are no part of the program.
#pragma once

#include <cstdint>
#include <vector>

namespace simt {

// Offsets of the flags in the thread-local variables of the module that holds this code, by rising offset. Each is of
// guard_bytes. Empty if the module has no symbol table.
constexpr unsigned guard_bytes = 8;
const std::vector<uintptr_t>& guard_offsets(const void* code);

}  // namespace simt
