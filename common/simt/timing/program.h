// What a warp does, as the GPU's own compiler would have arranged it: steps, each of which waits for values, takes
// issue slots and ends in at most one access.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine.h"
#include "operations.h"
#include "rounds.h"
#include "trace.h"

namespace simt::timing {

enum class Unit : uint8_t { none, memory, shuffle, vote, barrier };

struct Step {
  float issue = 0;    // issue slots of a scheduler
  float alu = 0;      // of which on the units of integers and comparisons
  float mufu = 0;     // of which on the special function unit
  float doubles = 0;  // of which double precision
  float latency = 0;  // cycles from the first of them to the last one's result, if nobody else is there
  Unit unit = Unit::none;
  int access = -1;         // of the window's accesses, by order of the trace; only of Unit::memory
  bool tries = false;      // an atomic that is a loop of compare and swap
  bool by_one = false;     // one that counts, and nobody asks what was there
  int wide = 0;            // bytes of a lane, where loads of shared memory became one or a shuffle two; 0: as traced
  int writes = -1;         // the slot whose value comes later
  std::vector<int> waits;  // slots
};

// Straight code between two points past which the compiler moves nothing.
struct Window {
  std::vector<Step> steps;
  std::vector<std::pair<int, int>> moves;  // at the end: value's slot <- slot
  int slots = 0;                           // of the values that it needs
  int registers = 0;                       // the most that hold values at one time
};

struct WindowUse {
  const Window* window;
  uint32_t first_access;  // in WarpProgram::accesses
};

struct WarpProgram {
  std::vector<WindowUse> windows;
  std::vector<uint32_t> accesses;  // indices of WarpTrace::entries
};

// A load of shared memory that the compiler leaves out, since another one of the window has brought its value.
struct Joined {
  int with = -1;  // which of the window's accesses brings it; itself: it brings more than its own
  int wide = 0;   // bytes of a lane that it brings, where these are more than its own
};

// Makes programs of traces. Windows that are alike are made once.
class Compiler {
 public:
  // origin: what added to an entry's pc is its offset in the module.
  Compiler(const Operations& operations, uint64_t origin, const Machine& machine)
      : operations_(operations), origin_(origin), machine_(machine) {}

  WarpProgram compile(const WarpTrace& warp);

  int registers() const { return registers_; }
  uint64_t unknown_accesses() const { return unknown_; }  // of code that the table does not have
  // Reasons why there can be no prediction, of the functions that ran.
  std::vector<std::string> problems() const;

 private:
  struct Visit;  // a block that the warp entered, with its entries
  std::vector<Visit> visits_of(const WarpTrace& warp);
  void count_rounds(std::vector<Visit>* visits) const;
  const Window* window(const WarpTrace& warp, const std::vector<Visit>& visits, size_t begin, size_t end,
                       unsigned together);
  struct Rounds {
    const Loop* loop = nullptr;
    size_t end = 0;              // of the visits that belong to them
    size_t left = 0;             // that no window has yet
    std::vector<size_t> begins;  // visits at which the second, the third... begins
  };
  Rounds rounds_from(const std::vector<Visit>& visits, size_t begin, const Loop& loop) const;
  size_t end_of_window(const std::vector<Visit>& visits, size_t begin, unsigned* together);
  std::vector<Joined> join_loads(const WarpTrace& warp, const std::vector<Visit>& visits, size_t begin, size_t end);

  const Operations& operations_;
  const uint64_t origin_;
  const Machine& machine_;
  std::unordered_map<std::string, std::unique_ptr<Window>> windows_;
  std::vector<bool> used_;  // functions
  Rounds rounds_;
  RoundsOfLoops in_round_;  // at the begin of a window
  int registers_ = 0;
  uint64_t unknown_ = 0;
};

}  // namespace simt::timing
