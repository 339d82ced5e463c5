// Keeps the code of a graded file on its paths: what it pushes at the beginning of a function it finds at its end,
// returns go to where the call was, and calls through a pointer to the beginning of a function.
#pragma once

#include <string>
#include <vector>

#include "assembly.h"

namespace announce {

// What goes before and after an instruction.
std::vector<std::string> seal_before(const Instruction& instruction);
std::vector<std::string> seal_after(const Instruction& instruction);

}  // namespace announce
