// Lab 06, second rung, given: rows in order and rows with many equal logits.
#pragma once

#include "hits.h"

// All threads must call it; it ends with a barrier.
template <typename T, int Most, int Groups, int Room>
__device__ void read_carefully(Candidates<Room>& candidates, Hits<T, Most>& hits, const T* logits, int first, int end,
                               int k, Seen<Groups>& seen, Key& threshold) {
  bool ties = threshold != no_threshold;
  __syncthreads();
  if (threadIdx.x == 0) candidates.count = hits.count = 0;
  __syncthreads();
  seen.max = lowest;
  seen.sum = 0.0f;
  for (int g = 0; g < Groups; ++g) seen.best[g] = -INFINITY;
  if (!ties) threshold = look_ahead<T, Groups>(candidates, logits, first, end, k, threshold);
  for (int begin = first; begin < end; begin += tile_columns<T>()) {
    Tile<T> tile;
    load_tile(logits, begin, end, tile);
    absorb(seen, tile);
    unsigned waiting = find_hits(tile, least_from(threshold, begin));
    if (ties || __syncthreads_count(waiting != 0) > static_cast<int>(blockDim.x) / 4) {
      if (!ties) {
        threshold = raise(candidates, seen, k, threshold);
        ties = tied(candidates, k);
      }
      if (ties) threshold = cut_ties(candidates, tile, begin, end, k, threshold);
      ties = false;
      waiting = find_keys(tile, begin, threshold);
    }
    while (!set_aside(hits, tile, begin, waiting)) {
      threshold = offer_hits(candidates, hits, end, k, threshold);
      waiting &= find_keys(tile, begin, threshold);
    }
  }
  if (first + tile_columns<T>() < end) threshold = raise(candidates, seen, k, threshold);
  threshold = offer_hits(candidates, hits, end, k, threshold);
}
