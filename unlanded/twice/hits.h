// Lab 06, second rung, given: a threshold from what the threads have seen, and vectors that are looked at later.
#pragma once

#include "candidates.h"
#include "vectors.h"

// How many keys may be at or above a threshold for k before a search goes on.
__device__ int few_more(int k) { return k + k / 8 + 3; }

// A threshold from what the threads have seen. Their groups' maxima belong to different columns: if k of them reach a
// logit, k columns do. And few columns more than that do, as long as k is well below the number of groups, and few
// logits are equal. Sets `reached` to the number of maxima that reach it. scratch: only its bins are used. All threads
// must call it.
template <int Groups, int Room>
__device__ Key find_in_maxima(Candidates<Room>& scratch, const Seen<Groups>& seen, int k, Key threshold, int& reached) {
  const auto for_each = [&](auto use) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) use(make_key(seen.best[g], -1));  // the lowest key of this logit
  };
  const Key raised = find_threshold(scratch, threshold, 32, k, few_more(k), for_each, &reached);
  // Up to the next of these keys: the threshold is the logit itself if many are equal.
  return raised > threshold ? (raised + 0xFFFFFFFFu) >> 32 << 32 : threshold;
}

// A guess: of the k largest of `cols` logits so many, and hardly ever more, are among the first tiles, if they are
// spread at random. So a logit that so many reach there is a threshold, most likely, and a much higher one than k
// reach. Where it would be hardly higher, it is k. online_kernel finds out whether the guess was right.
template <typename T>
__device__ int rank_in(int tiles, int cols, int k) {
  const float expected =
      static_cast<float>(k) * static_cast<float>(tiles * tile_columns<T>()) / static_cast<float>(cols);
  const float rank = 1.2f * expected + 3.0f * sqrtf(expected) + 3.0f;
  return rank <= 0.75f * static_cast<float>(k) ? static_cast<int>(rank) : k;
}

// Of many equal logits those of the lowest columns are wanted: puts the column into the threshold up to which k of this
// tile's logits reach it. scratch: only its bins are used. All threads must call it.
template <typename T, int Room>
__device__ Key cut_ties(Candidates<Room>& scratch, const Tile<T>& tile, int begin, int end, int k, Key threshold) {
  const float least = logit_of(threshold);
  const int per_bin = per_thread * static_cast<int>(blockDim.x) / bins;  // vectors
  __syncthreads();                                                       // all have read the bins
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

// Raises the threshold to one that `rank` of the maxima reach. It is a guess if they are fewer than k. Returns how many
// they are. All threads must call it.
template <int Groups, int Room>
__device__ int raise(Candidates<Room>& scratch, const Seen<Groups>& seen, int rank, int k, Key& threshold,
                     bool& guessed) {
  int reached = 0;
  const Key raised = find_in_maxima(scratch, seen, rank, threshold, reached);
  guessed |= raised > threshold && reached < k;
  threshold = raised;
  return reached;
}

// The least logit that reaches the threshold, of columns behind the one that it may have.
__device__ float least_behind(Key threshold) {
  const bool none_equal = column_of(threshold) >= 0;
  return logit_of(threshold + (none_equal ? static_cast<Key>(1) << 32 : 0));
}

// Adds the maxima of the row's last two tiles, which is at least two tiles long, to what is seen: where the logits rise,
// the largest are there.
template <typename T, int Groups>
__device__ void look_ahead(Seen<Groups>& seen, const T* row, int first, int end) {
  const int last = first + (end - 1 - first) / tile_columns<T>() * tile_columns<T>();
  for (int begin = last - tile_columns<T>(); begin <= last; begin += tile_columns<T>()) {
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const float top = top_of(load_vector(row, column_of_vector<T>(begin, v), end), T());
      seen.best[v % Groups] = fmaxf(seen.best[v % Groups], top);
    }
  }
}

// Vectors with a logit at or above the threshold are only appended to a buffer. Most lanes of a warp would have to wait
// while one processes its logits. That is done in bulk later, with one thread per logit.
template <typename T, int Most>
struct Hits {
  uint4 vector[Most];
  int column[Most];  // of the vector's first logit
  int count;         // may be more: those found no room
  int of_first;      // how many the first tile had
};

// Which vectors have a key at or above the threshold, which has just been raised: as find_hits(), but of logits that
// equal the threshold only those up to its column.
template <typename T>
__device__ unsigned find_hits(const Tile<T>& tile, int begin, Key threshold) {
  unsigned found = 0;
#pragma unroll
  for (int v = 0; v < per_thread; ++v)
    found |= (make_key(top_of(tile.vector[v], T()), max(column_of_vector<T>(begin, v), 0)) >= threshold ? 1u : 0u) << v;
  return found;
}

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

// Whether so many hits found no room that they must be a good part of a tile: the logits rise along the row. To be
// called by all threads after a set_aside() that returned false.
template <typename T, int Most>
__device__ bool rising(const Hits<T, Most>& hits) {
  return hits.count > Most + static_cast<int>(blockDim.x) / 2;
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
