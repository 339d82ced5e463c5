// Lab 06b, given: parts of a row that are one tile, and rows that read_quickly() gives up: their logits are in order,
// or many of the largest are equal.
#pragma once

#include "hits.h"

// Returns true if so many maxima are at or above the threshold, just found for k of them, that some must be equal. All
// threads must call it, after raise().
template <int Room>
__device__ bool tied(const Candidates<Room>& scratch, int k) {
  return scratch.reach[scratch.found] > k + k / 4 + 16;
}

// Returns true if far more vectors found no room than a tile should have hits. All threads must call it, after a
// set_aside() that returned false.
template <typename T, int Most>
__device__ bool crowded(const Hits<T, Most>& hits, int expected) {
  return hits.count > Most + static_cast<int>(blockDim.x) / 2 + expected;
}

// Returns true if only the first tile had hits, though its threshold was a guess: that of rank `rank` instead of k. Of
// rows in random order, at most 1 in 7^3 or 3^6 is like this. All threads must call it, where 0, 1, 3, 7 ... tiles lie
// before this one. before: their columns.
template <typename T, int Most>
__device__ bool falling(Hits<T, Most>& hits, int before, int rank, int k) {
  if (before == tile_columns<T>() && threadIdx.x == 0) hits.of_first = hits.count;
  return before == (rank < 6 ? 7 : 3) * tile_columns<T>() && rank < k && hits.count == hits.of_first;
}

// Of many equal logits, those of the lowest columns are wanted. Returns the threshold's logit with the column up to
// which at least k of this tile's logits are at or above it. scratch: only its bins are used. All threads must call it.
template <typename T, int Room>
__device__ Key cut_ties(Candidates<Room>& scratch, const Tile<T>& tile, int begin, int end, int k, Key threshold) {
  threshold = (threshold + 0xFFFFFFFFu) >> 32 << 32;  // the logit alone
  const float least = logit_of(threshold);
  const int per_bin = max(1, per_thread * static_cast<int>(blockDim.x) / bins);  // vectors
  __syncthreads();
  if (threadIdx.x == 0) scratch.found = -1;
  for (int b = threadIdx.x; b < bins; b += blockDim.x) scratch.reach[b] = 0;
  __syncthreads();
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    const int column = column_of_vector<T>(begin, v);
    if (column < 0 || column + lanes < T >> end) continue;
    float x[lanes<T>];
    unpack<T>(tile.vector[v], x);
    int reaching = 0;
#pragma unroll
    for (int i = 0; i < lanes<T>; ++i) reaching += x[i] >= least;
    const int place = v * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    if (reaching > 0) atomicAdd(&scratch.reach[bins - 1 - place / per_bin], reaching);  // the first are on top
  }
  __syncthreads();
  add_from_top(scratch.reach, k, scratch.found);
  if (scratch.found < 0) return threshold;  // this tile has fewer
  return make_key(least, begin + (bins - scratch.found) * per_bin * lanes<T> - 1);
}

// The smallest logit of which a key from column `begin` on can be at or above the threshold.
__device__ float least_from(Key threshold, int begin) {
  const bool none_equal = static_cast<unsigned>(column_of(threshold)) < static_cast<unsigned>(max(begin, 0));
  return logit_of(threshold + (none_equal ? static_cast<Key>(1) << 32 : 0));
}

// As find_hits(), but of the logits that equal the threshold's, only those up to its column are hits.
template <typename T>
__device__ unsigned find_keys(const Tile<T>& tile, int begin, Key threshold) {
  unsigned found = 0;
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    const float top = top_of(tile.vector[v], T());
    found |= (make_key(top, max(column_of_vector<T>(begin, v), 0)) >= threshold ? 1u : 0u) << v;
  }
  return found;
}

// The smallest logit of a vector, -INFINITY if one is NaN.
template <typename T>
__device__ float bottom_of(uint4 vector) {
  float x[lanes<T>], least = INFINITY;
  unpack<T>(vector, x);
#pragma unroll
  for (int i = 0; i < lanes<T>; ++i) least = x[i] >= least ? least : x[i] < least ? x[i] : -INFINITY;
  return least;
}

// A threshold from the row's last tile_columns(): if the logits rise, the largest are there. All threads must call it;
// it ends with a barrier.
template <typename T, int Groups, int Room>
__device__ Key look_ahead(Candidates<Room>& scratch, const T* row, int first, int end, int k, Key threshold) {
  const int last = first + (end - first) / lanes<T> * lanes<T> - tile_columns<T>();
  if (last < first) return threshold;
  Seen<Groups> tops, bottoms;
  for (int g = 0; g < Groups; ++g) tops.best[g] = bottoms.best[g] = -INFINITY;
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    const uint4 vector = load_vector(row, column_of_vector<T>(last, v), end);
    tops.best[v % Groups] = fmaxf(tops.best[v % Groups], top_of(vector, T()));
    bottoms.best[v % Groups] = fmaxf(bottoms.best[v % Groups], bottom_of<T>(vector));
  }
  __syncthreads();  // all have read the bins
  threshold = raise(scratch, tops, k, threshold, 32);
  __syncthreads();
  // All of a vector's logits are at or above its smallest. Where they are in order, that is a much better threshold.
  threshold = raise(scratch, bottoms, (k + lanes<T> - 1) / lanes<T>, threshold, 32);
  __syncthreads();
  return threshold;
}

// Of k sorted logits, all lanes of a vector become candidates. Drops those that are too many. All threads must call it,
// after a barrier that follows the last offer(); it ends with one.
template <int Room>
__device__ Key drop_most(Candidates<Room>& candidates, int k, Key threshold) {
  if (candidates.count <= 4 * k + 64) return threshold;
  threshold = threshold_of(candidates, k, 2 * k, threshold);
  drop_below(candidates, threshold);
  return threshold;
}

// What is known of a part of a row, besides its candidates.
struct Reading {
  float max, sum;
  Key threshold;
};

// Reads the columns from `first` to `end` - 1 once more, after read_quickly() gave them up. There are no guesses: the
// threshold is always certain. All threads must call it; it ends with a barrier. Neither inlined nor with references
// to registers: read_quickly() would be slower.
template <typename T, int Groups, int Most, int Room>
__device__ __noinline__ Reading read_carefully(Candidates<Room>& candidates, Hits<T, Most>& hits, const T* logits,
                                               int first, int end, int k) {
  Seen<Groups> seen;
  __syncthreads();
  if (threadIdx.x == 0) candidates.count = hits.count = 0;
  __syncthreads();
  seen.max = lowest;
  seen.sum = 0.0f;
  for (int g = 0; g < Groups; ++g) seen.best[g] = -INFINITY;
  Key threshold = no_threshold;
  for (int begin = first; begin < end; begin += tile_columns<T>()) {
    Tile<T> tile;
    load_tile(logits, begin, end, tile);
    absorb(seen, tile);
    unsigned waiting = find_hits(tile, least_from(threshold, begin));
    if (begin == first || __syncthreads_count(waiting != 0) > static_cast<int>(blockDim.x) / 4) {
      threshold = raise(candidates, seen, k, threshold, 32);
      if (tied(candidates, k))
        threshold = cut_ties(candidates, tile, begin, end, k, threshold);
      else if (begin == first)
        threshold = look_ahead<T, Groups>(candidates, logits, first, end, k, threshold);
      waiting = find_keys(tile, begin, threshold);
    }
    while (!set_aside(hits, tile, begin, waiting)) {
      threshold = offer_hits(candidates, hits, end, k, threshold);
      waiting &= find_keys(tile, begin, threshold);
    }
  }
  if (first + tile_columns<T>() < end) threshold = raise(candidates, seen, k, threshold);
  threshold = drop_most(candidates, k, offer_hits(candidates, hits, end, k, threshold));
  return {seen.max, seen.sum, threshold};
}

// Reads at most tile_columns() columns: they stay in registers. All threads must call it; it ends with a barrier.
template <typename T, int Most, int Groups, int Room>
__device__ void read_one_tile(Candidates<Room>& candidates, Hits<T, Most>& hits, const T* logits, int first, int end,
                              int k, Seen<Groups>& seen, Key& threshold) {
  Tile<T> tile;
  load_tile(logits, first, end, tile);
  absorb(seen, tile);
  threshold = raise(candidates, seen, k, no_threshold, 32);
  unsigned waiting = find_hits(tile, logit_of(threshold));
  if (tied(candidates, k)) {
    threshold = cut_ties(candidates, tile, first, end, k, threshold);
    waiting = find_keys(tile, first, threshold);
  }
  while (!set_aside(hits, tile, first, waiting)) threshold = offer_hits(candidates, hits, end, k, threshold);
  threshold = drop_most(candidates, k, offer_hits(candidates, hits, end, k, threshold));
}
