// What the instructions of a module's kernels are: the table that operations/ makes when the module is compiled, from
// the compiler's last GIMPLE form. A line each, words separated by spaces:
//
//   f SYMBOL KERNEL ORDERED MATCHED    a function. ORDERED: its pointers may alias, so that no load passes a store.
//                                      MATCHED: every hook was found in the object
//   u WHY                              something in it whose cost is not known
//   l HEADER UNROLL ENTRY BLOCKS       a loop. UNROLL: rounds that stand one after another, 0 for all. ENTRY:
//   instructions
//                                      before it
//   b BLOCK OFFSET BRANCH FLAGS NEXT   a basic block, its hook's return address from the function's beginning,
//   instructions
//                                      of its jump. p: predicated, not jumped; d: nor is its other side issued, as the
//                                      compiler knows the outcome; t: the executor's own, of no cost
//   k OFFSET                           another hook of the block, which was made of several
//   h VALUE BLOCK:VALUE ...            a value that depends on where control came from (-1: a constant)
//   o KIND QUARTERS MUFU FLAGS OFFSET WRITES READS
//                                      an operation: quarters of an instruction; instructions on the special function
//                                      unit; f: no load passes it; g: once for all rounds that stand together; F: an
//                                      atomic sum of floats; u: an atomic on an address that all threads have; i: an
//                                      atomic that counts, and nobody asks what was there; k: an access whose address
//                                      follows from the loop's counters
//   n HEADER,...                       the operation before does the same in each round of these loops, so that the
//                                      compiler lets it be done in the first one alone
//   v VALUES                           and it is a load of what the round before stored: these values
//   j OFFSET MULTIPLE KIND NUMBER ROUNDS
//                                      a load that may be joined with others of its region, if it is one of shared
//                                      memory: its address is a multiple of so many bytes, but for constants and
//                                      counters. KIND: in the rounds of the loop with header NUMBER that stand together
//                                      (p); in straight code whose first block is NUMBER (e; s: always at the same
//                                      address), or in a loop in it that is unrolled to its end (f)
//   m NUMBER BEGIN WORDS OFFSET BYTES HEADER:STEP ...
//                                      an element of a thread's own array, which WRITES and READS have as eNUMBER: a
//                                      value for each of the array's words, from BEGIN; so many bytes OFFSET from its
//                                      begin, and STEP more in each round of a loop
//   q HEADER NUMBER                    such a loop and its region
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "../module_symbols.h"

namespace simt::timing {

enum class Kind : char {
  alu = 'a',
  integer = 'i',  // as alu, but the units that multiply floats take half of them
  single_precision = 'F',
  convert = 'v',
  mufu = 'm',
  half = 'h',
  double_precision = 'd',
  load = 'l',
  store = 's',
  load_and_store = 'L',
  atomic = 'x',
  shuffle = 'w',
  vote = 'o',
  match = 't',
  reduce = 'r',
  syncwarp = 'y',
  barrier = 'b',
  grid_barrier = 'g',
  call = 'c',
  copy = '=',
  unknown = '?'
};

struct Element {
  int begin = 0, words = 0, offset = 0, bytes = 0;  // words 0: nobody knows which one it is
  std::vector<std::pair<int, int>> steps;           // header of a loop, bytes
};
constexpr int first_element = -2;  // among an operation's values: first_element - NUMBER

struct Operation {
  Kind kind;
  float instructions;
  int mufu;
  bool fence, once, floats, counted, of_all, by_one;
  int64_t offset;  // -1: no hook
  std::vector<int> writes, reads;
  bool of_elements = false;             // some of these are elements
  uint64_t unchanged_in = 0;            // a bit for each of the function's loops that does not change it
  std::vector<int> stored_before = {};  // there, by the round before
};

struct Phi {
  int value;
  std::vector<std::pair<int, int>> sources;  // index of a block, value
};

struct TableBlock {
  int number;
  int64_t offset;
  std::vector<int64_t> inner;  // hooks of blocks that became part of it
  float branch;
  bool predicated, decided, transparent;
  std::vector<int> next;  // numbers
  std::vector<Phi> phis;
  std::vector<Operation> operations;
};

struct Loop {
  int header;
  unsigned unroll;
  float entry;
  std::vector<bool> blocks;  // by number
  bool contains(int block) const {
    return static_cast<size_t>(block) < blocks.size() && blocks[static_cast<size_t>(block)];
  }
};

struct JoinableLoad {
  int64_t offset;
  unsigned multiple;
  char kind;
  int number;
  unsigned rounds;
};

struct TableFunction {
  std::string symbol;
  bool kernel, ordered, matched;
  std::vector<std::string> unknown;
  std::vector<Loop> loops;  // inner ones first
  uint64_t repeats = 0;     // a bit for each loop that does not change some operation in it
  std::vector<TableBlock> blocks;
  std::vector<JoinableLoad> joinable;
  std::vector<Element> elements;
  std::unordered_map<int, int> regions;  // of loops that are unrolled to their end, by header
  int values = 0;

  const Loop* loop_of(int block) const;  // the innermost that is not unrolled to its end; nullptr: none
  bool is_unrolled(int block) const;     // is the innermost loop that is unrolled at all unrolled to its end?
};

// A joinable load and its function's index; nullptr: there is none.
struct FoundLoad {
  const JoinableLoad* load = nullptr;
  int function = -1;
};

// Where a hook's return address is.
struct Position {
  int function = -1, block = -1, operation = -1;  // indices; operation -1: the block's beginning, -2: in its midst
};

class Operations {
 public:
  // The text of the module's tables, one after the other as their files were linked, and where its functions are.
  // Throws std::runtime_error where it is not a table.
  Operations(const std::string& text, const FunctionOffsets& places);

  // offset: in the module. Not found: function is -1.
  Position find(uintptr_t offset) const;
  FoundLoad joinable(uintptr_t offset) const;
  const Operation& operation(const Position& at) const {
    return functions_[static_cast<size_t>(at.function)]
        .blocks[static_cast<size_t>(at.block)]
        .operations[static_cast<size_t>(at.operation)];
  }
  const std::vector<TableFunction>& functions() const { return functions_; }

 private:
  std::vector<TableFunction> functions_;
  std::unordered_map<uintptr_t, Position> positions_;
  std::unordered_map<uintptr_t, FoundLoad> joinable_;
};

// Of the module with this file, read once; nullptr: it has no table. Throws std::runtime_error where it is not a table.
const Operations* operations_of(const std::string& path);

}  // namespace simt::timing
