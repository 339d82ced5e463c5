// Lab 06, second rung, given: rows in order and rows with many equal logits.
#pragma once

#include "hits.h"

// All threads must call it; it ends with a barrier.
template <typename T, int Most, int Groups, int Room>
__device__ void read_carefully(Candidates<Room>& candidates, Hits<T, Most>& hits, const T* logits, int first, int end,
                               int k, Seen<Groups>& result_seen, Key& result) {
  __syncthreads();
  if (threadIdx.x == 0) candidates.count = hits.count = 0;
  __syncthreads();
  Seen<Groups> seen;
  seen.max = lowest;
  seen.sum = 0.0f;
  for (int g = 0; g < Groups; ++g) seen.best[g] = -INFINITY;
  Key threshold = look_ahead<T, Groups>(candidates, logits, first, end, k, no_threshold);
  for (int begin = first; begin < end; begin += tile_columns<T>()) {
    Tile<T> tile;
    load_tile(logits, begin, end, tile);
    absorb(seen, tile);
    unsigned waiting = find_hits(tile, least_from(threshold, begin));
    if (begin == first || __syncthreads_count(waiting != 0) > static_cast<int>(blockDim.x) / 4) {
      threshold = raise(candidates, seen, k, threshold);
      if (tied(candidates, k)) threshold = cut_ties(candidates, seen, tile, begin, end, k, k, threshold);
      waiting = find_keys(tile, begin, threshold);
    }
    while (!set_aside(hits, tile, begin, waiting)) {
      threshold = offer_hits(candidates, hits, end, k, threshold);
      waiting &= find_keys(tile, begin, threshold);
    }
  }
  if (first + tile_columns<T>() < end) threshold = raise(candidates, seen, k, threshold);
  result = offer_hits(candidates, hits, end, k, threshold);
  result_seen = seen;
}
