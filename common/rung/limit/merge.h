// Lab 06b, given: several blocks for one row, if there are few rows.
#pragma once

#include "candidates.h"
#include "hopper.h"

// All threads of all blocks of the cluster wait for each other.
__device__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// Combines the `mine` of a warp's lanes into one value, which each of them gets. All lanes must call it.
template <typename T, typename Op>
__device__ T of_all_lanes(T mine, Op op) {
  for (int apart = 1; apart < 32; apart *= 2) mine = op(mine, __shfl_xor_sync(0xFFFFFFFF, mine, apart));
  return mine;
}

// The data about their parts of a row that the blocks of a cluster exchange.
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
  const bool many = k > 64;  // for fewer a search does not pay
  const Key fair = many ? threshold_of(candidates, few, few + few / 4, threshold, make_key(max, 0)) : threshold;
  if (threadIdx.x == 0) part = {max, sum, threshold, fair};
  cluster_sync();
  const int rank = threadIdx.x % 32;
  Part other = {lowest, 0.0f, no_threshold, ~static_cast<Key>(0)};
  if (many || cluster_rank() == 0) {
    // Each warp reads the parts for itself: that needs no barrier of the block.
    if (rank < size) other = *in_block(&part, rank);
    // If k keys of one part, or `few` keys of every part, are at or above a key, k keys of the row are.
    threshold = of_all_lanes(other.threshold, Max());
  }
  if (many) {
    threshold = ::max(threshold, ~of_all_lanes(~other.fair, Max()));
    drop_below(candidates, threshold);
    cluster_sync();
  }
  if (cluster_rank() == 0) {
    max = of_all_lanes(other.max, Max());
    sum = of_all_lanes(other.sum * __expf(other.max - max), Add());
    // Their lists, one after the other: upto[b] keys are those of blocks 1 to b. So lists of unequal length, as rows in
    // order have, take as long as their keys.
    __shared__ int upto[32];
    int keys = rank > 0 && rank < size ? in_block(&candidates, rank)->count : 0;
    for (int apart = 1; apart < 32; apart *= 2) {
      const int before = __shfl_up_sync(0xFFFFFFFF, keys, apart);
      if (rank >= apart) keys += before;
    }
    if (threadIdx.x < 32) upto[rank] = keys;
    __syncthreads();
    threshold = offer_each(candidates, upto[size - 1], k, threshold, [&](int i) -> Key {
      int b = 0;
      for (int step = 8; step > 0; step /= 2) b += i >= upto[b + step] ? step : 0;
      return in_block(&candidates, b + 1)->keys[i - upto[b]];
    });
  }
  cluster_arrive();
  if (cluster_rank() == 0) return true;
  cluster_wait();  // no block may return while its shared memory is read
  return false;
}
