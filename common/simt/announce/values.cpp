#include "values.h"

#include <cstdlib>
#include <cstring>

namespace announce {

namespace {

// Frames are far smaller; an offset beyond this may be anywhere.
constexpr int64_t largest_frame = 32 << 10;

void add(Value* sum, const Value& value, int64_t times) {
  sum->constant += times * value.constant;
  for (const auto& [number, count] : value.terms) {
    int64_t& all = sum->terms[number];
    all += times * count;
    if (all == 0) sum->terms.erase(number);
  }
}

bool immediate(const Operand& operand, int64_t* value) {
  if (!operand.is_immediate()) return false;
  char* end = nullptr;
  *value = std::strtoll(operand.text.c_str() + 1, &end, 0);
  return !*end;
}

bool begins(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

// The linker's table says how far from %fs:0 a thread-local variable is, or the linker itself does ("@tpoff").
constexpr const char *offset_in_thread = "@gottpoff", *known_offset_in_thread = "@tpoff";

// Where a thread-local variable is, is the sum of two: where the thread has its own, %fs:0, and the offset there.
bool part_of_place(const Operand& operand) {
  if (operand.segment == "%fs")
    return operand.base == none && operand.index == none && operand.displacement == 0 && operand.symbol.empty();
  return operand.base == rip && operand.symbol.find(offset_in_thread) != std::string::npos;
}

constexpr Register caller_saved[] = {rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11};

}  // namespace

bool is_same(const Value& a, const Value& b) { return a.terms == b.terms; }

Value Values::fresh_frame() {
  if (above_ >= 0) frames_.insert(next_);
  return fresh();
}

void Values::forget(int64_t above) {
  frames_.clear();
  thread_locals_.clear();
  spilled_.clear();
  symbols_.clear();
  above_ = above;
  for (int i = 0; i < register_count; i++) registers_[static_cast<size_t>(i)] = i == rsp ? fresh_frame() : fresh();
}

Value Values::address(const Operand& operand) {
  Value sum;
  sum.constant = operand.displacement;
  if (!operand.symbol.empty() || !operand.segment.empty())
    sum.terms[symbol(operand.segment + ":" + operand.symbol)] = 1;
  if (operand.base >= 0 && operand.base != rip) add(&sum, of(operand.base), 1);
  if (operand.index >= 0) add(&sum, of(operand.index), operand.scale);
  return sum;
}

int Values::symbol(const std::string& name) {
  const auto [found, is_new] = symbols_.try_emplace(name, next_);
  if (is_new) next_++;
  if (begins(name, "%fs") || name.find(offset_in_thread) != std::string::npos ||
      name.find(known_offset_in_thread) != std::string::npos)
    thread_locals_.insert(found->second);
  return found->second;
}

bool Values::is_built_in(const Operand& operand) {
  if (operand.segment != "%fs" || operand.base < 0 || operand.base == rip || operand.index != none ||
      !operand.symbol.empty())
    return false;
  const Value place = of(operand.base);
  const int64_t offset = place.constant + operand.displacement;
  if (place.terms.size() != 1 || offset < 0 || offset > 8) return false;
  for (const char* const name : {"simt_threadIdx", "simt_blockIdx", "simt_blockDim", "simt_gridDim"}) {
    const auto known = symbols_.find(std::string(name) + offset_in_thread);
    if (known != symbols_.end() && place.terms.count(known->second) && place.terms.at(known->second) == 1) return true;
  }
  return false;
}

bool Values::is_in_frame(const Value& address) const {
  return address.terms.size() == 1 && address.terms.begin()->second == 1 &&
         frames_.count(address.terms.begin()->first) && address.constant >= -largest_frame && address.constant < above_;
}

bool Values::may_be_global(const Value& address) const {
  for (const auto& [number, count] : address.terms) {
    if (frames_.count(number) || thread_locals_.count(number)) return false;
  }
  return true;
}

void Values::call(bool clobbers, bool own) {
  for (const Register number : caller_saved) set(number, fresh());
  if (clobbers) spilled_.clear();
  if (!own) return;
  for (const Register number : {rbx, rbp, r12, r13, r14, r15}) set(number, fresh());
}

void Values::call_says_thread_local() {
  thread_locals_.insert(next_);
  set(rax, fresh());
}

void Values::run(const Instruction& instruction) {
  const std::string& name = instruction.mnemonic;
  if (name.empty()) return;
  // Memory first: the address is that before the instruction.
  const Operand* const memory = instruction.memory();
  const bool stores = memory && !instruction.operands.empty() && memory == &instruction.last();
  if (stores && !begins(name, "cmp") && !begins(name, "test")) {
    const Value place = address(*memory);
    if (is_in_frame(place)) {
      const int frame = place.terms.begin()->first;
      // A value takes 8 bytes, what is stored at most 16.
      spilled_.erase(spilled_.lower_bound({frame, place.constant - 7}),
                     spilled_.lower_bound({frame, place.constant + 16}));
      const Register source = register_of(instruction.operands[0].text);
      if (name == "movq" && source >= 0) spilled_[{frame, place.constant}] = of(source);
    } else {
      spilled_.clear();  // it may be anywhere
    }
  }
  set_result(instruction);
}

// The register that the instruction changes, if any.
void Values::set_result(const Instruction& instruction) {
  const std::string& name = instruction.mnemonic;
  if (begins(name, "push") || begins(name, "pop")) {
    const Register target =
        begins(name, "pop") && !instruction.operands.empty() ? register_of(instruction.operands[0].text) : none;
    Value stack = of(rsp);
    stack.constant += begins(name, "pop") ? 8 : -8;
    set(rsp, stack);
    if (begins(name, "push")) spilled_.clear();
    if (target >= 0) set(target, fresh());
    return;
  }
  if (instruction.operands.empty() || begins(name, "mul") || begins(name, "div") || begins(name, "idiv") ||
      (begins(name, "imul") && instruction.operands.size() == 1) || begins(name, "cmpxchg") || begins(name, "xchg") ||
      begins(name, "xadd")) {
    // cltq, rep stosq, leave and their like; results in rax and rdx.
    for (const Register number : {rax, rcx, rdx, rsi, rdi}) set(number, fresh());
    for (const Operand& operand : instruction.operands) {
      if (const Register number = register_of(operand.text); number >= 0) set(number, fresh());
    }
    if (name == "leave") {
      set(rbp, fresh());
      set(rsp, fresh_frame());
    }
    if (!instruction.prefix.empty()) spilled_.clear();
    return;
  }
  const Operand& last = instruction.last();
  const Register target = register_of(last.text);
  if (target < 0 || target == rip || begins(name, "cmp") || begins(name, "test") || begins(name, "bt") ||
      name[0] == 'j')
    return;
  const Operand& first = instruction.operands[0];
  const Register source = register_of(first.text);
  const bool whole = bytes_of_register(last.text) == 8;
  int64_t number = 0;
  Value result = fresh();
  if (name == "xorl" && first.text == last.text) {
    result = {};
  } else if ((name == "movl" || name == "movq") && immediate(first, &number)) {
    result = {{}, number};
  } else if (whole && name == "movq" && source >= 0) {
    result = of(source);
  } else if (whole && name == "movq" && part_of_place(first)) {
    result = {{{symbol(first.segment + first.symbol), 1}}, 0};
  } else if (whole && name == "movq" && first.is_memory) {
    const Value place = address(first);
    const auto kept = is_in_frame(place) ? spilled_.find({place.terms.begin()->first, place.constant}) : spilled_.end();
    if (kept != spilled_.end())
      result = kept->second;
    else if (is_in_frame(place))
      spilled_[{place.terms.begin()->first, place.constant}] = result;
  } else if (whole && name == "leaq") {
    result = address(first);
  } else if (whole && (name == "addq" || name == "subq") && (source >= 0 || immediate(first, &number))) {
    result = of(target);
    add(&result, source >= 0 ? of(source) : Value{{}, number}, name == "addq" ? 1 : -1);
  } else if (whole && name == "addq" && part_of_place(first)) {
    result = of(target);
    add(&result, {{{symbol(first.segment + first.symbol), 1}}, 0}, 1);
  } else if (whole && (name == "salq" || name == "shlq") && instruction.operands.size() == 2 &&
             immediate(first, &number) && number > 0 && number < 32) {
    result = {};
    add(&result, of(target), int64_t{1} << number);
  }
  // The stack pointer stays in the frame; where it might not, that is asked (rewriter.cpp).
  if (target == rsp && (result.terms.size() != 1 || !frames_.count(result.terms.begin()->first)))
    result = fresh_frame();
  set(target, result);
}

}  // namespace announce
