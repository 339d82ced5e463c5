// Completes the instrumentation of a compiled file: every access of memory that the compiler has not announced by a
// call of __tsan_read4 and its like is announced (simt_seen_load4, ...; instrument/seen.S), and what it has announced
// without an access is taken away. So what the counters and checks see is what the code does, whatever attributes,
// builtins and library functions it was written with.
//
// Left alone: fixed places in a function's own frame, and what the linker and the compiler keep for themselves
// (addresses of other modules, literals).
//
// That holds as long as control goes where the compiler sent it. So each function says when it begins and ends, and
// the executor looks whether it returns to where it was called (instrument/flow.cpp); a mark stands before each
// function's first instruction, for which is looked before a call through a pointer; and where the stack pointer moves
// far, it is looked whether it is still in the thread's own stack. The mark is drawn anew for each object, so that no
// text can hold it elsewhere.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "accesses.h"
#include "assembly.h"
#include "values.h"

namespace announce {

// What is in a file that ordinary code has not.
struct Finding {
  std::string what;  // "inline assembly", "the instruction syscall", "the section .evil"
  std::string file;
  int line;
};

struct Report {
  std::vector<Finding> findings;
  // Names that the file refers to and does not define, each with the line that does so first; and all that it
  // defines, for others or for itself.
  std::map<std::string, int> needs;
  std::set<std::string> defines;
};

class Rewriter {
 public:
  // The assembly, rewritten.
  std::string rewrite(const std::string& assembly);
  const Report& report() const { return report_; }

 private:
  // An access of what may be global memory.
  struct Passed {
    Value address;
    int64_t bytes;
    bool loads, stores;
  };
  struct Announced {
    Value address;
    int64_t bytes;
    bool loads, stores;
    size_t output_line;  // where the call of the hook is
    bool used;
    bool is_volatile;
    size_t passed;        // accesses of the block before it
    bool joined = false;  // its pieces are announced in its place
  };
  // What the compiler has not announced, as far as is known.
  struct Seen {
    Value address;
    Access access;
    Operand memory;
    size_t output_line;  // the first of the `lines_of_seen` that announce it
  };
  static constexpr size_t lines_of_seen = 4;

  void line(std::string_view text);
  void directive(const std::string& text);
  void label(const std::string& name);
  void instruction(std::string_view text);
  void call(const Instruction& call, std::string_view text);
  bool announcement(const std::string& name);
  void announce(const Operand& memory, const Access& access);
  void announce_string(const Instruction& instruction);
  bool is_announced(const Value& address, const Access& access);
  bool happens_again(const Announced& before, const Announced& hook) const;
  void call_by_pointer(const Operand& target);
  void end_block();
  void note(const Value& address, int64_t bytes, bool loads, bool stores);
  void join_pieces();
  void join_pieces(Announced& hook);
  void emit(std::string_view line_of_input) { output_.push_back(line_of_input); }
  void make(std::string text) { output_.push_back(made_.emplace_back(std::move(text))); }
  void find(const std::string& what) { report_.findings.push_back({what, file_, line_}); }
  void refer(const std::string& symbol);
  void find_frames(const std::vector<std::string_view>& lines);
  // How far above rsp a function's frame may reach at one of its labels; below 0 if its stack pointer is computed.
  int64_t frame_bytes() const;

  Report report_;
  std::vector<std::string_view> output_;
  std::deque<std::string> made_;  // lines of ours
  Values values_;
  std::vector<Announced> announced_;
  std::vector<Passed> passed_;             // in the same block
  std::vector<Seen> seen_;                 // in the same block
  std::map<std::string, int64_t> frames_;  // of functions: their bytes, below 0 if that is computed
  std::set<std::string> labels_, functions_, defined_;
  std::string mark_;
  std::string function_;
  bool entered_ = false;  // what runs has said that it enters this block; what it was made of says so again
  bool in_code_ = true, in_debug_ = false, in_assembly_ = false;
  std::map<int, std::string> files_;
  std::string file_;
  int line_ = 0;
};

}  // namespace announce
