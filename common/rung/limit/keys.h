// Lab 06b, given: keys, a reduction, and the candidates for the K largest.
#pragma once

#include "pack.h"

constexpr int max_threads = 512;  // of a block; always whole warps

struct Max {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;  // a where b is NaN
  }
};
struct Add {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
template <typename T, typename Op>
__device__ T block_reduce(T mine, Op op) {
  __shared__ T of_warp[max_threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) mine = op(mine, __shfl_xor_sync(0xFFFFFFFF, mine, offset));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  T all = of_warp[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / 32; ++w) all = op(all, of_warp[w]);
  __syncthreads();  // or the next call could overwrite of_warp before a slow warp has read it
  return all;
}

// ---- Keys: a logit and its column as one number that sorts as the result is sorted --------------
//
// Upper 32 bits: the logit, as an unsigned number of the same order. Lower 32 bits: the column, inverted, so that of
// equal logits the lower column has the larger key. No two columns have equal keys, and no column has the key 0.
using Key = unsigned long long;

__device__ Key make_key(float logit, int column) {
  const unsigned bits = __float_as_uint(logit + 0.0f);  // -0 + 0 is +0: equal numbers get equal bits
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(ordered) << 32 | ~static_cast<unsigned>(column);
}

__device__ int column_of(Key key) { return static_cast<int>(~static_cast<unsigned>(key)); }

// NaN for the keys 0 and 1.
__device__ float logit_of(Key key) {
  const unsigned ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
}

// ---- Selection: the K largest keys of a stream --------------------------------------------------
//
// Candidates are collected in shared memory. A threshold is a key such that at least K of the row's keys are known to
// be at or above it. A key below it cannot be in the result. In a long row almost all keys are below it, and each of
// them costs one comparison.

// The threshold while none is known: every column's key is at or above it. Key 0, which stands for no column, is not.
constexpr Key no_threshold = 1;

constexpr int bins = 256;

template <int Room>
struct Candidates {
  Key keys[Room];
  int count;
  // For find_threshold() and write_result(): how many keys lie in each bin or above it, and a bin that was found.
  alignas(16) int reach[bins];
  int found;
};

// Calls use(i, slot) for every i that is wanted. The slots are consecutive over all lanes of the warp, starting at
// `counter`, which grows by their number. This is a warp-aggregated atomic: one per warp. All lanes must call it.
template <int N, typename Use>
__device__ void take_slots(int& counter, const bool (&wanted)[N], Use use) {
  const int lane = threadIdx.x % 32;
  unsigned who[N];  // the lanes whose i-th is wanted
  int count = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) count += __popc(who[i] = __ballot_sync(0xFFFFFFFF, wanted[i]));
  if (count == 0) return;
  int next = lane == 0 ? atomicAdd(&counter, count) : 0;
  next = __shfl_sync(0xFFFFFFFF, next, 0);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (wanted[i]) use(i, next + __popc(who[i] & ((1u << lane) - 1)));
    next += __popc(who[i]);
  }
}

// A range of keys from low on in `bins` equal parts. The first also has all keys below it, the last all keys above it.
__device__ int bin_of(Key key, Key low, int shift) {
  return key < low ? 0 : static_cast<int>(min((key - low) >> shift, static_cast<Key>(bins - 1)));
}

// The width of a bin, as a power of two, such that bins from `low` on hold all keys up to `high`.
__device__ int shift_for(Key low, Key high) { return max(0, 56 - __clzll(static_cast<long long>(high - low))); }
