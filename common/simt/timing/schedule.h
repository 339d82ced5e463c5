// Arranges the instructions of a window as nvcc's assembler does: loads as early as their addresses are known, what
// waits for them after all of them.
#pragma once

#include <unordered_map>
#include <vector>

#include "machine.h"
#include "operations.h"
#include "program.h"
#include "rounds.h"
#include "trace.h"

namespace simt::timing {

class Scheduler {
 public:
  struct Access {
    int operation;  // index in the block; -1: unknown
    const Entry* entry;
    Joined joined = {};
  };

  // function may be nullptr, for code that the table does not have.
  // rounds: before its first block.
  Scheduler(const TableFunction* function, const Machine& machine, const RoundsOfLoops& rounds)
      : function_(function), machine_(machine), rounds_(rounds) {}

  // Where control came from: the index of a block, or -1.
  void come_from(int block) { before_ = block; }
  void add_entry(float instructions);

  // The next block. counts: are operations that stand for several rounds counted in this one? again: a bit for each of
  // the function's loops that is in its second or a later round.
  void add(int block, const std::vector<Access>& accesses, bool counts, uint64_t again = 0);
  void add_unknown(const std::vector<Access>& accesses);

  Window finish();

 private:
  struct Instance {
    Kind kind;
    float instructions = 0, latency = 0;
    float holds = 0;  // cycles until the warp issues the next one, if these are more
    int mufu = 0, access = -1, registers = 1, wide = 0;
    unsigned segment = 0, level = 0;
    bool from_shared = false, tries = false, by_one = false;
    std::vector<int> needs;  // instances (>= 0) or values from before (-1 - value)
    std::vector<int> after;  // instances that must be issued before
  };
  using Producers = std::vector<int>;

  Producers producers(const std::vector<int>& values) const;
  Producers producer(int value) const;
  int add_instance(const Operation& operation, const Entry* entry);
  void keep_order(int instance, const Entry& entry, bool counted);
  void add_phis(const TableBlock& block);
  void add_skipped(const TableBlock& block);
  bool is_predicated(const TableBlock& block) const;
  bool is_chosen(const Phi& phi) const;
  bool is_late(const Instance& instance) const;
  class Pressure;
  void set_levels();
  std::vector<int> by_level();
  bool is_possible(int index, const std::vector<bool>& issued) const;
  int without_more_registers(const std::vector<int>& sorted, size_t first, const std::vector<bool>& issued,
                             const Pressure& pressure) const;
  std::vector<int> order();                                                   // order.cpp
  void count_registers(const std::vector<int>& order, Window* window) const;  // order.cpp

  const TableFunction* function_;
  const Machine& machine_;
  RoundsOfLoops rounds_;
  int before_ = -1, routine_ = -1;
  struct {
    Producers tests;
    std::vector<int> blocks;  // numbers, of the branches and their sides
  } choice_;                  // by the predicated branches before this
  std::vector<Instance> instances_;
  std::unordered_map<int, Producers> made_by_;  // value -> producers
  unsigned segment_ = 0;
  int accesses_ = 0;
  std::unordered_map<int, int> bringing_;  // instance that stands for an access of the window
  int fence_ = -1, shared_fence_ = -1;
  struct Earlier {
    std::vector<int> loads, stores;  // since the last that nothing passes
  };
  Earlier earlier_[3][2];  // by space; those with addresses that follow from the loop's counters
};

}  // namespace simt::timing
