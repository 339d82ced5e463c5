// A line of the assembly that GCC writes for x86-64 (AT&T syntax).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace announce {

// The general registers by the processor's numbers.
enum Register : int { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, rip, none = -1 };
constexpr int register_count = 16;

// "%r12d" -> r12. `none` for what is no general register.
Register register_of(const std::string& text);
int bytes_of_register(const std::string& text);  // 4 of "%r12d"

struct Operand {
  std::string text;
  bool indirect = false;  // *...: the target of a jump or call

  // If it is memory: segment:symbol+displacement(base, index, scale).
  bool is_memory = false;
  std::string segment;  // "%fs"
  std::string symbol;   // with what follows it: "x@GOTPCREL", "x+4"; or empty
  int64_t displacement = 0;
  Register base = none, index = none;
  int scale = 1;

  bool is_immediate() const { return text[0] == '$'; }
};

struct Instruction {
  std::string prefix;    // "rep", "lock", ...
  std::string mnemonic;  // "movss"
  std::vector<Operand> operands;

  const Operand* memory() const;
  const Operand& last() const { return operands.back(); }
};

// The memory `more` bytes further on, of an operand with a base or an index.
std::string operand_text(const Operand& memory, int64_t more);

// The text of an instruction: no label, directive or comment.
Instruction parse_instruction(const std::string& text);

}  // namespace announce
