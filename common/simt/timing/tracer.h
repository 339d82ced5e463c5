// Takes the traces of a launch's blocks while they run. A few blocks, evenly spaced, and the last are enough: those of
// a grid do nearly the same.
#pragma once

#include <atomic>
#include <mutex>

#include "../instrument/log.h"
#include "trace.h"

namespace simt::timing {

constexpr unsigned traced_blocks = 12;
constexpr size_t room = 3'000'000;  // entries of one launch

// Shared by the OS threads that run a launch.
class LaunchTracer {
 public:
  explicit LaunchTracer(uint64_t blocks) : blocks_(blocks) {}

  // Is this block to be traced? Not once there is no more room.
  bool wants(uint64_t block) const;
  void add(BlockTrace block);
  void use(size_t entries) { used_ += entries; }
  bool is_full() const { return used_ > room; }

  LaunchTrace take();

 private:
  const uint64_t blocks_;
  std::atomic<size_t> used_{0};
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
  size_t count_ = 0;
};

}  // namespace simt::timing
