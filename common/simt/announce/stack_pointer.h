// What an instruction does to the stack pointer.
#pragma once

#include "assembly.h"

namespace announce {

enum class Stack {
  stays,
  moves,        // by a number of bytes that it says
  is_restored,  // at a function's end
  is_computed,
};

// down: by how many bytes it moves, below 0 if it moves up; an upper limit where it is aligned.
Stack how_stack_moves(const Instruction& instruction, int64_t* down);

// Could the stack pointer lie far below where it was: outside of the thread's stack, and beyond the page below it,
// which nobody may touch, or further down than a small frame reaches?
bool may_leave_stack(const Instruction& instruction);

}  // namespace announce
