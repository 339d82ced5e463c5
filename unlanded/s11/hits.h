// Lab 06, second rung, given: a threshold from what the threads have seen, and vectors that are looked at later.
#pragma once

#include "candidates.h"
#include "vectors.h"

// How often `k` keys may be exceeded before a search goes on.
__device__ int few_more(int k) { return k + k / 8 + 3; }

// A threshold from what the threads have seen. Their groups' maxima belong to different columns: if k of them reach a
// logit, k columns do. And few columns more than that do, as long as k is well below the number of groups. scratch:
// only its bins are used. All threads must call it.
template <int Groups, int Room>
__device__ Key find_in_maxima(Candidates<Room>& scratch, const Seen<Groups>& seen, int k, Key threshold,
                              int* reached = nullptr) {
  const auto for_each = [&](auto use) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) use(make_key(seen.best[g], -1));  // the lowest key of this logit
  };
  return find_threshold(scratch, threshold, 47, k, few_more(k), for_each, reached);  // 47: 8 bits of the fraction
}

// A guess: of the k largest of `cols` logits so many, and hardly ever more, are among the first tiles, if they are spread at
// random. So a logit that so many reach there is a threshold, most likely, and a much higher one than k reach. Where it
// would be hardly higher, it is k. online_kernel finds out whether the guess was right.
template <typename T>
__device__ int rank_in(int tiles, int cols, int k) {
  const float expected = static_cast<float>(k) * static_cast<float>(tiles * tile_columns<T>()) / static_cast<float>(cols);
  const float rank = 1.2f * expected + 3.0f * sqrtf(expected) + 3.0f;
  return rank <= 0.75f * static_cast<float>(k) ? static_cast<int>(rank) : k;
}

// Raises the threshold to one that `rank` of the maxima reach. It is a guess if they are fewer than k. If they are far more,
// many logits are equal: then the threshold gets a column of this tile, too, which begins at column `begin`, so that equal
// logits of later columns are below it. All threads must call it.
template <typename T, int Groups, int Room>
__device__ Key raise(Candidates<Room>& scratch, const Seen<Groups>& seen, const Tile<T>& tile, int begin, int end, int rank,
                     int k, Key threshold, bool& guessed) {
  for (bool tied = false;; tied = true) {
    int reached = 0;
    const Key raised = find_threshold(
        scratch, threshold, tied ? 0 : 47, rank, few_more(rank),
        [&](auto use) {
#pragma unroll
          for (int g = 0; g < Groups; ++g) {
            int column = -1;  // the lowest key of this logit
            if (tied) {
#pragma unroll
              for (int v = per_thread - 1; v >= 0; --v)
                if (v % Groups == g && top_of(tile.vector[v], T()) == seen.best[g])
                  column = column_of_vector<T>(begin, v) + lanes<T> - 1;
            }
            use(make_key(seen.best[g], column < end ? column : -1));
          }
        },
        &reached);
    if (tied || reached <= 2 * few_more(k)) {
      guessed |= !tied && raised > threshold && reached < k;
      return raised;
    }
    rank = k;
    __syncthreads();
  }
}

// The least logit of which a key from column `begin` on can reach the threshold.
__device__ float least_from(Key threshold, int begin) {
  const bool none_equal = static_cast<unsigned>(column_of(threshold)) < static_cast<unsigned>(max(begin, 0));
  return logit_of(threshold + (none_equal ? static_cast<Key>(1) << 32 : 0));
}

// How a row is read: with guesses; without, if the first tiles showed that the logits are in some order; or, where a guess
// was too high, with a threshold that is sure. Without guesses the last tile comes first: then the largest logits are seen
// early, whether they rise or fall.
enum class Reading { guessing, careful, sure };

// Where the last tile of these columns begins.
template <typename T>
__device__ int last_tile(int first, int end) {
  return first + max(end - 1 - first, 0) / tile_columns<T>() * tile_columns<T>();
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

// Whether the logits that reach the threshold are all before `column`, or all behind: they are in `hits` or among the
// candidates. That hardly happens to logits in random order. All threads must call it, after a barrier.
template <typename T, int Most, int Room>
__device__ bool one_sided(const Candidates<Room>& candidates, const Hits<T, Most>& hits, int column, Key threshold) {
  const float least = logit_of(threshold);
  bool before = false, behind = false;
  const auto note = [&](bool reaches, int at) {
    before |= reaches && at < column;
    behind |= reaches && at >= column;
  };
  for (int i = threadIdx.x; i < min(hits.count, Most); i += blockDim.x)
    note(!(top_of(hits.vector[i], T()) < least), hits.column[i]);
  for (int i = threadIdx.x; i < candidates.count; i += blockDim.x)
    note(candidates.keys[i] >= threshold, column_of(candidates.keys[i]));
  return !__syncthreads_or(before) || !__syncthreads_or(behind);
}
