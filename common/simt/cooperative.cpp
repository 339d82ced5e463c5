#include "cooperative.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "block.h"
#include "checks/observer.h"
#include "failure.h"

namespace simt {

namespace {

// Shared memory of one block that waits: the module's thread-local variables, but of the executor's array of dynamic
// shared memory, which may be among them, only the part that the launch uses.
class SavedShared {
 public:
  SavedShared(const ModuleTls& tls, size_t dynamic_bytes) {
    unsigned char *const end = tls.begin + tls.bytes, *const dynamic = simt_dynamic_shared;
    const bool among_them = tls.contains(dynamic);
    if (among_them) {
      ranges_ = {{tls.begin, dynamic}, {dynamic, dynamic + dynamic_bytes}, {dynamic + max_shared_bytes, end}};
    } else {
      ranges_ = {{tls.begin, end}, {dynamic, dynamic + dynamic_bytes}};
    }
    size_t bytes = 0;
    for (const Range& range : ranges_) bytes += static_cast<size_t>(range.end - range.begin);
    copy_.resize(bytes);
  }

  void save() {
    unsigned char* to = copy_.data();
    for (const Range& range : ranges_) to = std::copy(range.begin, range.end, to);
  }
  void restore() const {
    const unsigned char* from = copy_.data();
    for (const Range& range : ranges_) {
      std::memcpy(range.begin, from, static_cast<size_t>(range.end - range.begin));
      from += range.end - range.begin;
    }
  }

 private:
  struct Range {
    unsigned char *begin, *end;
  };
  std::vector<Range> ranges_;
  std::vector<unsigned char> copy_;
};

// Kept for the next launch, with their stacks: of each OS thread that does a device's work.
std::vector<std::unique_ptr<Block>>& resident_blocks() {
  static thread_local auto* blocks = new std::vector<std::unique_ptr<Block>>;
  return *blocks;
}

[[noreturn]] void fail(const char* what, const char* detail, uint3 block, uint3 thread, Place place) {
  Failure failure = {};
  failure.what = what;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", detail);
  failure.in_kernel = true;
  std::memcpy(failure.block, &block, sizeof failure.block);
  std::memcpy(failure.thread, &thread, sizeof failure.thread);
  failure.file = place.file;
  failure.line = place.line;
  report_failure(failure);
}

}  // namespace

void run_cooperative(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes)) {
  const uint64_t count = launch->block_count();
  std::vector<std::unique_ptr<Block>>& blocks = resident_blocks();
  while (blocks.size() < count) blocks.push_back(std::make_unique<Block>());
  std::vector<std::unique_ptr<SavedShared>> saved(count);
  uint64_t waiting = 0;
  for (uint64_t i = 0; i < count; i++) {
    poison(launch->config.shared_bytes);
    blocks[i]->begin_launch(*launch, launch->record, launch->counters);
    if (blocks[i]->run(*launch, i)) continue;
    saved[i] = std::make_unique<SavedShared>(static_shared, launch->config.shared_bytes);
    saved[i]->save();
    waiting++;
  }
  while (waiting) {
    if (waiting < count) {
      uint64_t first = 0;
      while (!saved[first]) first++;
      const Thread& thread = *blocks[first]->running();
      fail("deadlock",
           "The block waits in grid.sync(), but other blocks of the grid have returned. Every block must reach every "
           "grid.sync(): is it inside a branch or a loop?",
           blocks[first]->index(), thread.index, thread.place);
    }
    if (launch->record && current_observer()) current_observer()->grid_complete();
    for (uint64_t i = 0; i < count; i++) {
      saved[i]->restore();
      if (blocks[i]->resume()) {
        saved[i] = nullptr;
        waiting--;
      } else {
        saved[i]->save();
      }
    }
  }
  for (uint64_t i = 0; i < count; i++) blocks[i]->end_launch();
}

void fail_no_meeting(uint3 block, uint3 thread, Place place) {
  fail("a barrier that was not initialised",
       "The thread arrives at a barrier, or waits for it, and no thread of the block has called its init(). One thread "
       "initialises it; a __syncthreads() before the others use it.",
       block, thread, place);
}

void fail_not_cooperative(Place place) {
  fail("grid.sync() in an ordinary launch",
       "A barrier of the whole grid needs all blocks to be resident: launch the kernel with "
       "cudaLaunchCooperativeKernel().",
       current_block->index(), threadIdx, place);
}

}  // namespace simt
