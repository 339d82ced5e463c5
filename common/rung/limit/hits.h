// Lab 06b, given: a threshold from the threads' maxima, and vectors that are set aside and processed later.
#pragma once

#include "candidates.h"
#include "vectors.h"

// A threshold from the maxima of the threads' groups. These belong to different columns: if k of them are at or above a
// logit, k columns are. Only a few more columns are, as long as k is well below the number of groups. scratch: only its
// bins are used. All threads must call it.
template <int Groups, int Room>
__device__ Key raise(Candidates<Room>& scratch, const Seen<Groups>& seen, int k, Key threshold, int finest = 47) {
  return find_threshold(scratch, threshold, ~static_cast<Key>(0), finest, k, k + k / 8 + 3,
                        [&](auto use) {  // 47: 8 bits of the fraction
#pragma unroll
                          for (int g = 0; g < Groups; ++g)
                            use(make_key(seen.best[g], -1));  // the lowest key of this logit
                        });
}

// A guess: the part of the row that has been read has `expected` of its k largest logits, if they are spread at random,
// and hardly ever more than the number returned. So the logit of that rank is very likely a threshold, and a much
// higher one than the logit of rank k. read_quickly() checks whether it was.
__device__ int rank_in(float expected, int k) {
  return min(k, static_cast<int>(1.2f * expected + 3.0f * sqrtf(expected) + 3.0f));
}

// Vectors with a logit at or above the threshold are only appended to a buffer. If one lane processed its logits at
// once, the other lanes of the warp would wait. They are processed in bulk later, with one thread per logit.
template <typename T, int Most>
struct Hits {
  uint4 vector[Most];
  int column[Most];  // of the vector's first logit
  int count;         // may be more than fit: there was no room for the others
  int of_first;      // how many there were after the first tile
};

// Sets this thread's hits of a tile aside. waiting: bit v is set for each vector v that is still to be set aside.
// Returns false if there was no room for all; the others are still waiting. All threads must call it.
template <typename T, int Most>
__device__ bool set_aside(Hits<T, Most>& hits, const Tile<T>& tile, int begin, unsigned& waiting) {
  bool wanted[per_thread];
#pragma unroll
  for (int v = 0; v < per_thread; ++v) wanted[v] = waiting >> v & 1;
  take_slots(hits.count, wanted, [&](int v, int slot) {
    if (slot >= Most) return;
    hits.vector[slot] = tile.vector[v];
    hits.column[slot] = column_of_vector<T>(begin, v);
    waiting &= ~(1u << v);
  });
  return !__syncthreads_or(waiting);
}

// The i-th group of four logits of some vectors.
__device__ float4 four_of(const uint4* vectors, int i, float) { return reinterpret_cast<const float4*>(vectors)[i]; }
template <typename T>
__device__ float4 four_of(const uint4* vectors, int i, T) {
  const uint2 words = reinterpret_cast<const uint2*>(vectors)[i];
  const float2 low = widen(words.x, T()), high = widen(words.y, T());
  return make_float4(low.x, low.y, high.x, high.y);
}

// Offers the logits of all hits that lie before column `end`, and forgets the hits. Returns the threshold. All threads
// must call it, after a barrier that follows the last set_aside(); it ends with one.
template <typename T, int Most, int Room>
__device__ Key offer_hits(Candidates<Room>& candidates, Hits<T, Most>& hits, int end, int k, Key threshold) {
  const int count = min(hits.count, Most);
  __syncthreads();
  if (count == 0) return threshold;
  if (threadIdx.x == 0) hits.count = 0;
  return offer_all(candidates, count * lanes<T>, k, threshold, [&](int first, int last, Key(&key)[4]) {
    const int i = first + 4 * static_cast<int>(threadIdx.x);
    const bool some = i < last;
    const float4 four = some ? four_of(hits.vector, i / 4, T()) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float x[4] = {four.x, four.y, four.z, four.w};
    const int column = some ? hits.column[i / lanes<T>] + i % lanes<T> : -4;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      key[j] = static_cast<unsigned>(column + j) < static_cast<unsigned>(end) ? make_key(x[j], column + j) : 0;
  });
}
