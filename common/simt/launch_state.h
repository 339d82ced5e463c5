// What the blocks of one launch share.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "children.h"

namespace simt {

namespace counters {
struct LaunchCounters;
}

// Threads whose blocks take turns. Of a GPU there are many more at once; a stack for each of them takes 100 KB of
// addresses.
constexpr unsigned most_in_turns = 12 * 1024;

struct LaunchState {
  LaunchState(uint64_t id, const LaunchConfig& config, const BoundKernel& kernel)
      : id(id), config(config), kernel(kernel) {}

  const uint64_t id;  // launches are numbered from 1
  const LaunchConfig config;
  const BoundKernel kernel;
  std::atomic<uint64_t> next_block{0};
  std::vector<uint64_t> some;  // the blocks to run, if not all, by rising number

  bool cooperative = false;  // all blocks are resident at once
  // Whoever comes to an atomic of global memory lets the other blocks come to theirs. A launch that has begun may get
  // it (spinning.h).
  mutable std::atomic<bool> in_turns{false};

  // Set before it runs: is it watched (by the counters or an observer), and what to count into, if anything.
  bool record = false;
  counters::LaunchCounters* counters = nullptr;

  mutable Children children;  // its threads add to them while it runs

  uint64_t block_count() const { return static_cast<uint64_t>(config.grid.x) * config.grid.y * config.grid.z; }
  // 1 where none is asked for.
  uint64_t cluster_blocks() const {
    if (!config.cluster.x) return 1;
    return uint64_t{config.cluster.x} * config.cluster.y * config.cluster.z;
  }
  // Blocks that are there at once on one OS thread.
  uint64_t resident_blocks() const {
    if (cooperative) return block_count();
    const uint64_t together = cluster_blocks();
    if (!in_turns) return together;
    return std::min(block_count(), std::max(together, most_in_turns / threads_per_block() / together * together));
  }
  uint64_t blocks_to_run() const { return some.empty() ? block_count() : some.size(); }
  uint64_t block_to_run(uint64_t i) const { return some.empty() ? i : some[i]; }
  unsigned threads_per_block() const { return config.block.x * config.block.y * config.block.z; }

  uint3 block_index(uint64_t number) const {
    const uint64_t row = number / config.grid.x;
    return {static_cast<unsigned>(number % config.grid.x), static_cast<unsigned>(row % config.grid.y),
            static_cast<unsigned>(row / config.grid.y)};
  }
};

// Dynamic shared memory of the block that this OS thread runs. Static shared memory is thread-local in the kernel's
// module.
constexpr size_t max_shared_bytes = 227 * 1024;

}  // namespace simt

extern "C" {
extern __thread unsigned char simt_dynamic_shared[simt::max_shared_bytes];
}
