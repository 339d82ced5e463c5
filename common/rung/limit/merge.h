// Lab 06, second rung, given: several blocks for one row, where there are few rows.
#pragma once

#include "candidates.h"
#include "hopper.h"

// All threads of all blocks of the cluster wait for each other.
__device__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// What the blocks of a cluster tell each other of their parts of a row.
struct Part {
  float max, sum;
  Key threshold;  // at least k keys of the part are at or above it
  Key fair;       // at least ceil(k / parts) keys of the part are at or above it
};

// Adds the other blocks' candidates to those of the first block, and makes max and sum those of the whole row. All
// threads of all blocks must call it. Returns true in the first block, which then has the result.
template <int Room>
__device__ bool merge_cluster(Candidates<Room>& candidates, int k, Key& threshold, float& max, float& sum) {
  __shared__ Part part;
  const int size = cluster_blocks(), few = (k + size - 1) / size;
  if (size == 1) return true;
  const bool many = k > 64;  // less is not worth a search
  const Key fair = many ? threshold_of(candidates, few, few + few / 4, threshold) : threshold;
  if (threadIdx.x == 0) part = {max, sum, threshold, fair};
  cluster_sync();
  Part other = {lowest, 0.0f, no_threshold, ~static_cast<Key>(0)};
  if (static_cast<int>(threadIdx.x) < size) other = *in_block(&part, threadIdx.x);
  // What k columns of one part reach, or `few` of every part, k columns of the row do.
  threshold = block_reduce(other.threshold, Max());
  if (many) {
    threshold = ::max(threshold, ~block_reduce(~other.fair, Max()));
    drop_below(candidates, threshold);
    cluster_sync();
  }
  if (cluster_rank() == 0) {
    max = block_reduce(other.max, Max());
    sum = block_reduce(other.sum * __expf(other.max - max), Add());
    const bool another = threadIdx.x > 0 && static_cast<int>(threadIdx.x) < size;
    const int most = block_reduce(another ? in_block(&candidates, threadIdx.x)->count : 0, Max());
    threshold = offer_each(candidates, (size - 1) * most, k, threshold, [&](int i) -> Key {
      const Candidates<Room>& theirs = *in_block(&candidates, 1 + i / most);
      return i % most < theirs.count ? theirs.keys[i % most] : 0;
    });
  }
  cluster_sync();  // nobody may leave while its shared memory is read
  return cluster_rank() == 0;
}
