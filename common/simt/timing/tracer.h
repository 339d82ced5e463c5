// Takes the traces of a launch's blocks while they run. A few blocks and the last are enough: those of a grid do nearly
// the same. Where a grid is so small that its longest block decides, since all of them run at one time, that one is
// looked for, too.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "../instrument/log.h"
#include "trace.h"

namespace simt::timing {

constexpr unsigned traced_blocks = 12;
constexpr uint64_t few_blocks = 1024;  // of a launch in which the longest block is looked for whatever fits at one time

// Shared by the OS threads that run a launch.
class LaunchTracer {
 public:
  // in_launch: on the GPU, where only a part of them is run here. at_one_time: the most that the GPU runs at one time.
  LaunchTracer(uint64_t blocks, uint64_t in_launch, uint64_t at_one_time = 0)
      : blocks_(blocks),
        few_(in_launch <= few_blocks || (blocks == in_launch && blocks <= at_one_time)),
        work_(few_ && blocks == in_launch ? blocks : 0),
        rests_(work_.size()) {}

  // Is this block to be traced? Of the samples none once one before it did not fit.
  bool wants(uint64_t block) const { return is_sample(block) ? block < first_left_out_ : few_; }
  bool is_sample(uint64_t block) const;
  // A sample has so many entries more. False if it does not fit into the room beside those before it, by number: then
  // it and all after it are left out. So it does not matter how many OS threads run blocks side by side.
  bool keeps(uint64_t sample, size_t entries);
  // whole: was there room for all of it?
  // Returns a block that is not kept any more, if there is one: its room is for the next.
  BlockTrace add(BlockTrace block, bool whole);
  // One more block, traced or not, has accessed no memory.
  void add_idle(uint64_t block) {
    idle_++;
    if (block < rests_.size()) rests_[block] = 1;
  }

  LaunchTrace take();

 private:
  void leave_out_idle();
  void number_without_idle();

  const uint64_t blocks_;
  const bool few_;
  BlockTrace longest_ = {};  // of the others
  std::vector<uint32_t> work_;
  size_t known_ = 0;                  // blocks whose work is
  std::vector<uint8_t> rests_;        // like work_: which of them are idle
  std::map<uint64_t, size_t> sizes_;  // of samples that are kept or run, in entries
  size_t used_ = 0;                   // by them
  std::atomic<uint64_t> first_left_out_{~uint64_t{0}};
  std::atomic<uint64_t> idle_{0};
  std::mutex mutex_;
  LaunchTrace trace_;
};

// Of the block that one OS thread runs.
class BlockTracer {
 public:
  void begin(LaunchTracer* launch, uint64_t block, unsigned warps);
  void end();

  // What lanes of a warp do together, as the recorder puts it together.
  void enter(unsigned warp, uint32_t pc, uint32_t lanes);
  void access(unsigned warp, Event event, unsigned bytes, uint32_t pc, uint32_t lanes, const uint64_t* addresses);
  void synchronise(unsigned warp, Event event, uint32_t pc, uint32_t lanes);

 private:
  bool has_room();

  LaunchTracer* launch_ = nullptr;
  BlockTrace block_;
  bool sample_ = true, whole_ = true;
  size_t count_ = 0;
};

}  // namespace simt::timing
