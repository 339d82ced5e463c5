#include "stack_pointer.h"

#include <cstdlib>

namespace announce {

namespace {

constexpr int64_t small_bytes = 512;  // Recorder::clear_local counts on it

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

}  // namespace

Stack how_stack_moves(const Instruction& instruction, int64_t* down) {
  const std::string& name = instruction.mnemonic;
  if (begins(name, "push")) return *down = 8, Stack::moves;
  const Operand& last = instruction.last();
  if (last.is_memory || register_of(last.text) != rsp || begins(name, "pop") || begins(name, "cmp") ||
      begins(name, "test"))
    return Stack::stays;
  const Operand& first = instruction.operands[0];
  if (first.is_immediate() && (name == "subq" || name == "addq" || name == "andq")) {
    const int64_t number = std::strtoll(first.text.c_str() + 1, nullptr, 0);
    *down = name == "subq" ? number : name == "addq" ? -number : number < 0 ? -number : INT64_MAX;
    return *down > INT32_MAX || *down < INT32_MIN ? Stack::is_computed : Stack::moves;
  }
  // At a function's end. (By r10 functions find their arguments that align their frame.)
  if (name == "movq" && first.text == "%rbp") return Stack::is_restored;
  if (name == "leaq" && first.index == none && first.symbol.empty() && (first.base == rbp || first.base == r10))
    return Stack::is_restored;
  return Stack::is_computed;
}

bool may_leave_stack(const Instruction& instruction) {
  int64_t down = 0;
  if (instruction.operands.empty()) return false;
  switch (how_stack_moves(instruction, &down)) {
    case Stack::stays: return false;
    case Stack::moves: return down >= small_bytes;
    default: return true;
  }
}

}  // namespace announce
