// What registers hold, as far as it follows from the instructions since the last label: sums of unknown values, each
// times a number, and a constant. Two addresses are equal if their sums are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "assembly.h"

namespace announce {

struct Value {
  std::map<int, int64_t> terms;  // number of an unknown value -> how often
  int64_t constant = 0;
};

class Values {
 public:
  // At a label nothing is known, except that rsp lies in the frame, with `above` bytes of the frame above it. Below 0:
  // nothing is known of rsp, either.
  void forget(int64_t above);

  // The address of a memory operand. A symbol is an unknown value of its own.
  Value address(const Operand& operand);
  Value of(Register number) { return registers_[static_cast<size_t>(number)]; }

  // Is it a fixed place in the function's own frame?
  bool is_in_frame(const Value& address) const;

  // May it be global memory? Not the frame, nor a thread-local variable, as shared memory is.
  bool may_be_global(const Value& address) const;

  // Is it one of the executor's variables for this, of 12 bytes: threadIdx and its like?
  bool is_built_in(const Operand& thread_local_operand);

  // What an instruction does to registers, and to values that it keeps in the frame.
  void run(const Instruction& instruction);
  // A call. `clobbers`: of code that may have written to the frame; `own`: of the file, which may have written to the
  // registers that a function saves in its frame, too.
  void call(bool clobbers, bool own);
  // The call was the one that says where a thread-local variable is.
  void call_says_thread_local();

 private:
  Value fresh() { return {{{next_++, 1}}, 0}; }
  Value fresh_frame();
  void set(Register number, Value value) { registers_[static_cast<size_t>(number)] = std::move(value); }
  void set_result(const Instruction& instruction);
  int symbol(const std::string& name);

  int next_ = 0;
  int64_t above_ = 0;
  std::array<Value, register_count> registers_;
  std::map<std::string, int> symbols_;
  std::set<int> frames_, thread_locals_;
  std::map<std::pair<int, int64_t>, Value> spilled_;  // by frame and offset
};

bool is_same(const Value& a, const Value& b);  // but for the constant

}  // namespace announce
