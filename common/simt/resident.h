// Blocks that are resident together, so that they can wait for each other: the grid of a cooperative launch, or a
// cluster; and blocks that take turns at atomics.
//
// One OS thread runs the blocks in turn, each until all its threads wait for the others or have returned. Between its
// turns a block keeps its fibers; its shared memory, which the next block needs, is copied away and back.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "launch_state.h"
#include "memory.h"
#include "module_tls.h"

namespace simt {

// Shared memory of one block while it waits. Every byte keeps its place among 128, so that what is aligned stays so.
class SavedShared {
 public:
  SavedShared(const ModuleTls& tls, size_t dynamic_bytes);
  void save();
  void restore() const;

  // Where a byte of the running block's shared memory is in here, and the other way round; 0 for any other address.
  uintptr_t saved(uintptr_t shared) const;
  uintptr_t shared(uintptr_t saved) const;
  Allocation memory() const { return {begin_, bytes_}; }

 private:
  struct Range {
    uintptr_t shared, saved;
    size_t bytes;
  };
  std::vector<Range> ranges_;
  std::vector<unsigned char> copy_;
  uintptr_t begin_ = 0;
  size_t bytes_ = 0;
};

class Block;

class Residents {
 public:
  enum class State { not_begun, running, waits, waits_for_turn, ended };

  // `poison` fills the shared memory of a block that begins; `static_shared` is the kernel's module's.
  Residents(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes));

  // Runs these blocks of the launch to their end. Each time that all of them wait for each other, or have returned,
  // `all_wait` is called; then those that wait go on.
  void run(const std::vector<uint64_t>& numbers, const std::function<void()>& all_wait);

  // The same in steps, between which others may have their turns. go_on() ends as soon as a block waits for its turn;
  // it returns false if there was nothing left to run.
  void begin(const std::vector<uint64_t>& numbers);
  bool go_on(const std::function<void()>& all_wait);
  void end();

  // One more of the launch's blocks begins. A block that waits for its turn, begun elsewhere, has its turns with these.
  void add(uint64_t number);
  void adopt(Block* block);
  // How many have begun and not ended.
  size_t waiting() const;

  size_t count() const { return states_.size(); }
  State state(size_t i) const { return states_[i]; }
  size_t running() const { return running_; }
  // Of block i. It stays where it is as long as this lives.
  SavedShared& saved(size_t i);

 private:
  void turn(size_t i, const std::function<bool()>& go);
  void start(size_t i, uint64_t number);
  bool resume_all(State those);
  size_t first(State of_these) const;

  LaunchState* launch_;
  ModuleTls static_shared_;
  void (*poison_)(size_t dynamic_bytes);
  std::vector<State> states_;
  std::vector<Block*> blocks_;  // where those run that have begun
  std::vector<std::unique_ptr<Block>> used_;
  std::vector<Block*> idle_;  // of blocks that have ended
  std::vector<std::unique_ptr<SavedShared>> saved_;
  size_t running_ = 0;
};

// Ends all blocks that are kept for the next launch: after one with many of them.
void forget_resident_blocks();

// Runs a launch whose blocks take turns. Arguments as of Residents.
void run_in_turns(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes));

}  // namespace simt
