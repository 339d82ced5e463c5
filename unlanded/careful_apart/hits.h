// Lab 06, second rung, given: a threshold from what the threads have seen, and vectors that are looked at later.
#pragma once

#include "candidates.h"
#include "vectors.h"

// A threshold from what the threads have seen. Their groups' maxima belong to different columns: if k of them reach a
// logit, k columns do. And few columns more than that do, as long as k is well below the number of groups. scratch:
// only its bins are used. All threads must call it.
template <int Groups, int Room>
__device__ Key raise(Candidates<Room>& scratch, const Seen<Groups>& seen, int k, Key threshold) {
  return find_threshold(scratch, threshold, ~static_cast<Key>(0), 32, k, k + k / 8 + 3, [&](auto use) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) use(make_key(seen.best[g], -1));  // the lowest key of this logit
  });
}

// Whether so many maxima reach the threshold that was just found for k that some must be equal. To be called by all
// threads after raise().
template <int Room>
__device__ bool tied(const Candidates<Room>& scratch, int k) {
  return scratch.reach[scratch.found] > k + k / 4 + 16;
}

// Of many equal logits those of the lowest columns are wanted: puts the column into the threshold up to which k of this
// tile's logits reach it. scratch: only its bins are used. All threads must call it.
template <typename T, int Room>
__device__ Key cut_ties(Candidates<Room>& scratch, const Tile<T>& tile, int begin, int end, int k, Key threshold) {
  threshold = (threshold + 0xFFFFFFFFu) >> 32 << 32;  // the logit itself
  const float least = logit_of(threshold);
  const int per_bin = max(1, per_thread * static_cast<int>(blockDim.x) / bins);  // vectors
  __syncthreads();
  if (threadIdx.x == 0) scratch.found = -1;
  for (int b = threadIdx.x; b < bins; b += blockDim.x) scratch.reach[b] = 0;
  __syncthreads();
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    const int column = column_of_vector<T>(begin, v);
    if (column < 0 || column + lanes<T> > end) continue;
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
  if (scratch.found < 0) return threshold;  // they are not so many
  return make_key(least, begin + (bins - scratch.found) * per_bin * lanes<T> - 1);
}

// The least logit of which a key from column `begin` on can reach the threshold.
__device__ float least_from(Key threshold, int begin) {
  const bool none_equal = static_cast<unsigned>(column_of(threshold)) < static_cast<unsigned>(max(begin, 0));
  return logit_of(threshold + (none_equal ? static_cast<Key>(1) << 32 : 0));
}

// Which vectors have a key at or above the threshold: as find_hits(), but of logits that equal the threshold only those
// up to its column.
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

// The least logit of a vector, -INFINITY if there is a NaN.
template <typename T>
__device__ float bottom_of(uint4 vector) {
  float x[lanes<T>], least = INFINITY;
  unpack<T>(vector, x);
#pragma unroll
  for (int i = 0; i < lanes<T>; ++i) least = x[i] >= least ? least : x[i] < least ? x[i] : -INFINITY;
  return least;
}

// A threshold from the row's last tile_columns(): where the logits rise, the largest are there. All threads must call
// it; it ends with a barrier.
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
  threshold = raise(scratch, tops, k, threshold);
  __syncthreads();
  // All of a vector's logits reach its least. Where they are in order, that is a much better threshold.
  threshold = raise(scratch, bottoms, (k + lanes<T> - 1) / lanes<T>, threshold);
  __syncthreads();
  return threshold;
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
  int of_first;      // how many there were after the first tile
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

// Whether the vectors that found no room are so many that it is not chance. To be called by all threads after a
// set_aside() that returned false.
template <typename T, int Most>
__device__ bool crowded(const Hits<T, Most>& hits) {
  return hits.count > Most + static_cast<int>(blockDim.x) / 2;
}
