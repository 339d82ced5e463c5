// Which memory an instruction touches, and whether it is known at all.
#pragma once

#include <vector>

#include "assembly.h"

namespace announce {

enum class Kind { load, store, atomic };
struct Access {
  Kind kind;
  unsigned bytes;
};

// Through the instruction's memory operand; not what pushes, calls and string instructions touch besides. Empty if it
// has none, or touches nothing there (lea).
std::vector<Access> accesses_of(const Instruction& instruction);

// Whether it is one that GCC writes for ordinary code on any x86-64: moves, arithmetic, jumps, calls; of vectors, those
// of 16 bytes.
bool is_known(const Instruction& instruction);

}  // namespace announce
