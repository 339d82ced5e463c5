// Lab 06b, given: dropping candidates, making room for more, and writing the result.
//
// Uses offer(), add_from_top() and find_threshold(), which must be declared before it is included.
#pragma once

#include "keys.h"

// find_threshold() for the candidates, to the last bit. All threads must call it, after a barrier that follows the last
// offer().
template <int Room>
__device__ Key threshold_of(Candidates<Room>& candidates, int k, int most, Key threshold,
                            Key top = ~static_cast<Key>(0)) {
  return find_threshold(candidates, threshold, top, 0, k, most, [&](auto use) {
    for (int i = threadIdx.x; i < candidates.count; i += blockDim.x) use(candidates.keys[i]);
  });
}

// Drops the candidates below the threshold. All threads must call it, after a barrier that follows the last offer(); it
// ends with one.
template <int Room>
__device__ void drop_below(Candidates<Room>& candidates, Key threshold) {
  const int count = candidates.count;
  __syncthreads();
  if (threadIdx.x == 0) candidates.count = 0;
  for (int begin = 0; begin < count; begin += blockDim.x) {
    const int i = begin + static_cast<int>(threadIdx.x);
    const Key key[] = {i < count ? candidates.keys[i] : 0};
    __syncthreads();  // the keys up to here have been read: their slots are free
    offer(candidates, key, threshold);
  }
  __syncthreads();
}

// The number of candidates that may stay when room is made, and the number that may then be added.
__device__ int most_kept(int k) { return min(2 * k, rung::max_k); }
template <int Room>
__device__ int portion(int k) {
  return min(1024, Room - most_kept(k)) / 8 * 8;  // whole vectors
}

// Makes room for n more candidates, at most portion<Room>(k). Returns the threshold, raised if some had to be dropped.
// All threads must call it, after a barrier that follows the last offer(); it ends with one.
template <int Room>
__device__ Key make_room(Candidates<Room>& candidates, int n, int k, Key threshold) {
  const bool full = candidates.count + n > Room;
  __syncthreads();
  if (!full) return threshold;
  threshold = threshold_of(candidates, k, most_kept(k), threshold);
  drop_below(candidates, threshold);
  return threshold;
}

// Offers n keys. keys_of(first, end, key): fills key with this thread's keys among `first` to end - 1,
// at most four, and zeros. Returns the threshold, raised where room had to be made. All threads must call it,
// after a barrier that follows the last offer(); it ends with one.
template <int Room, typename KeysOf>
__device__ Key offer_all(Candidates<Room>& candidates, int n, int k, Key threshold, KeysOf keys_of) {
  for (int begin = 0; begin < n; begin += portion<Room>(k)) {
    const int end = min(n, begin + portion<Room>(k));
    threshold = make_room(candidates, end - begin, k, threshold);
    for (int first = begin; first < end; first += 4 * blockDim.x) {
      Key key[4];
      keys_of(first, end, key);
      offer(candidates, key, threshold);
    }
    __syncthreads();
  }
  return threshold;
}

// The same, for key_of(0) to key_of(n - 1).
template <int Room, typename KeyOf>
__device__ Key offer_each(Candidates<Room>& candidates, int n, int k, Key threshold, KeyOf key_of) {
  return offer_all(candidates, n, k, threshold, [&](int first, int end, Key(&key)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int i = first + static_cast<int>(j * blockDim.x + threadIdx.x);
      key[j] = i < end ? key_of(i) : 0;
    }
  });
}

// Writes the row's k outputs, in order. A key's rank is the number of larger keys. To count them, keys are distributed
// over bins by their value, and compared only with those of their own bin. max, sum: of the whole row. sorted: room for
// half as many keys as there is for candidates. All threads must call it, after a barrier that follows the last
// offer().
template <int Room>
__device__ void write_result(Candidates<Room>& candidates, Key* sorted, Key threshold, float max, float sum, int k,
                             int* index, float* prob) {
  if (candidates.count > Room / 2) {
    threshold = threshold_of(candidates, k, Room / 2, threshold, make_key(max, 0));
    drop_below(candidates, threshold);
  }
  const int count = candidates.count;
  const bool in_bins = count > 128;  // else one bin is enough
  int* reach = candidates.reach;
  // Many keys can have the threshold's logit: those are ranked in a second turn, by their columns alone.
  for (bool ties = false;; ties = true) {
    const Key top = threshold | 0xFFFFFFFFu;  // the largest key with the threshold's logit
    const int shift = shift_for(threshold, ties ? top : make_key(max, 0));
    const Key* keys = candidates.keys;
    int larger = 0, n = count;
    if (in_bins) {
      for (int b = threadIdx.x; b < bins; b += blockDim.x) reach[b] = 0;
      __syncthreads();
      for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (!ties || keys[i] <= top) atomicAdd(&reach[bin_of(keys[i], threshold, shift)], 1);
      __syncthreads();
      add_from_top(reach, k, candidates.found);
      if (ties) {
        n = reach[0];
        larger = count - n;
        __syncthreads();
      }
      // The keys of bin b have places up to reach[b], and are put there from the last on. Afterwards they begin at
      // reach[b], and end where those of bin b - 1 begin.
      for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (!ties || keys[i] <= top) sorted[atomicSub(&reach[bin_of(keys[i], threshold, shift)], 1) - 1] = keys[i];
      __syncthreads();
      keys = sorted;
    }
    const bool crowd = in_bins && !ties && count - reach[0] > 64;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const Key key = keys[i];
      if (crowd && key <= top) continue;
      int rank = 0, end = n;
      if (in_bins) {
        const int bin = bin_of(key, threshold, shift);
        rank = reach[bin];
        if (bin > 0) end = reach[bin - 1];
      }
      for (int j = rank; j < end; ++j) rank += keys[j] > key;
      rank += larger;
      if (rank >= k) continue;
      index[rank] = column_of(key);
      prob[rank] = expf(logit_of(key) - max) * inverse(sum);
    }
    if (!crowd) break;
    __syncthreads();  // all have read the bins
  }
}
