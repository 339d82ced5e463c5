// Lab 06b, given: a threshold from what the threads have seen, and vectors that are looked at later.
#pragma once

#include "candidates.h"
#include "vectors.h"

// A threshold from what the threads have seen. Their groups' maxima belong to different columns: if k of them reach a
// logit, k columns do. And few columns more than that do, as long as k is well below the number of groups. scratch:
// only its bins are used. All threads must call it.
template <int Groups, int Room>
__device__ Key raise(Candidates<Room>& scratch, const Seen<Groups>& seen, int k, Key threshold) {
  return find_threshold(scratch, threshold, 47, k, k + k / 8 + 3, [&](auto use) {  // 47: 8 bits of the fraction
#pragma unroll
    for (int g = 0; g < Groups; ++g) use(make_key(seen.best[g], -1));  // the lowest key of this logit
  });
}

// A guess: in the part of the row that has been seen, its k largest logits are `expected` in number, if they are spread
// at random, and hardly ever more than this. So a logit that so many reach there is a threshold, most likely, and a
// much higher one than k reach. online_kernel finds out whether it was.
__device__ int rank_in(float expected, int k) {
  return min(k, static_cast<int>(1.2f * expected + 3.0f * sqrtf(expected) + 3.0f));
}

// Vectors with a logit at or above the threshold are only appended to a buffer. Most lanes of a warp would have to wait
// while one processes its logits. That is done in bulk later, with one thread per logit.
template <typename T, int Most>
struct Hits {
  uint4 vector[Most];
  int column[Most];  // of the vector's first logit
  int count;         // may be more: those found no room
};

// Sets this thread's hits of a tile aside. waiting: bit v is set for each vector v that is still to be set aside.
// Returns false if there was no room for some thread's; those are still waiting. All threads must call it.
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

// The i-th four of the logits of some vectors.
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
