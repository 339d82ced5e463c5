// Lab 06b, given: the tiles of a row that a block loads at once, and what a thread keeps of them.
#pragma once

#include "pack.h"

// A vector is the 16 bytes of one load: 4 or 8 logits. Thread t has the vectors t, t + threads, ... of a tile:
// neighbours in a warp read neighbours in memory, and a thread's four loads do not wait for each other.
constexpr int per_thread = 4;

template <typename T>
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // logits in a vector

template <typename T>
struct Tile {
  uint4 vector[per_thread];
};

template <typename T>
__device__ int tile_columns() {
  return per_thread * static_cast<int>(blockDim.x) * lanes<T>;
}

// The column of the first logit of this thread's i-th vector, in the tile that begins at column `begin`.
template <typename T>
__device__ int column_of_vector(int begin, int i) {
  return begin + (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * lanes<T>;
}

// Two logits in a 32-bit word, the one at the lower address in the lower 16 bits.
__device__ float2 widen(unsigned word, __half) { return __half22float2(*reinterpret_cast<const __half2*>(&word)); }
__device__ float2 widen(unsigned word, __nv_bfloat16) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u));
}

template <typename T>
__device__ void unpack(uint4 vector, float (&x)[8]) {
  const float2 pairs[4] = {widen(vector.x, T()), widen(vector.y, T()), widen(vector.z, T()), widen(vector.w, T())};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = pairs[i].x;
    x[2 * i + 1] = pairs[i].y;
  }
}

template <typename T>
__device__ void unpack(uint4 vector, float (&x)[4]) {
  x[0] = __uint_as_float(vector.x);
  x[1] = __uint_as_float(vector.y);
  x[2] = __uint_as_float(vector.z);
  x[3] = __uint_as_float(vector.w);
}

// The vector at `column`, at an address that 16 divides. Where only a part of it, or nothing, lies in the row, the rest
// is -INFINITY, which changes neither the maximum nor the sum.
template <typename T>
__device__ uint4 load_vector(const T* row, int column, int cols) {
  if (column >= 0 && column + lanes<T> <= cols) return *reinterpret_cast<const uint4*>(row + column);
  alignas(16) T part[lanes<T>];
#pragma unroll
  for (int i = 0; i < lanes<T>; ++i) {
    const bool inside = column + i >= 0 && column + i < cols;
    part[i] = inside ? row[column + i] : static_cast<T>(-INFINITY);
  }
  return *reinterpret_cast<const uint4*>(part);
}

// This thread's vectors of the tile that begins at column `begin`, of a row that ends before `end`.
template <typename T>
__device__ void load_tile(const T* row, int begin, int end, Tile<T>& tile) {
  if (begin >= 0 && begin + tile_columns<T>() <= end) {  // almost always, and then no other test is needed
#pragma unroll
    for (int i = 0; i < per_thread; ++i)
      tile.vector[i] = *reinterpret_cast<const uint4*>(row + column_of_vector<T>(begin, i));
  } else {
#pragma unroll
    for (int i = 0; i < per_thread; ++i) tile.vector[i] = load_vector(row, column_of_vector<T>(begin, i), end);
  }
}

// What a thread knows of the logits that it has read. Its vectors belong to one group, or to four in turn.
template <int Groups>
struct Seen {
  float max = lowest;
  float sum = 0.0f;    // of exp(x - max)
  float best[Groups];  // the largest logit of each group
};

__device__ float top_of(uint4 vector, float) {
  float x[4];
  unpack<float>(vector, x);
  return fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
}

template <typename Two>
__device__ float top_of_pairs(uint4 vector) {
  const Two* pair = reinterpret_cast<const Two*>(&vector);
  const Two top = __hmax2(__hmax2(pair[0], pair[1]), __hmax2(pair[2], pair[3]));
  return fmaxf(to_float(top.x), to_float(top.y));
}

// The largest logit of a vector; NaN if all are NaN.
__device__ float top_of(uint4 vector, __half) { return top_of_pairs<__half2>(vector); }
__device__ float top_of(uint4 vector, __nv_bfloat16) { return top_of_pairs<__nv_bfloat162>(vector); }

// Which vectors have a logit that is not less than `least`, or only NaN: bit v for vector v.
template <typename T>
__device__ unsigned find_hits(const Tile<T>& tile, float least) {
  unsigned hits = 0;
#pragma unroll
  for (int v = 0; v < per_thread; ++v) hits |= (top_of(tile.vector[v], T()) < least ? 0u : 1u) << v;
  return hits;
}

// Brings `seen` up to date.
template <typename T, int Groups>
__device__ void absorb(Seen<Groups>& seen, const Tile<T>& tile) {
  float top = lowest;
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    const float mine = top_of(tile.vector[v], T());
    seen.best[v % Groups] = fmaxf(seen.best[v % Groups], mine);
    top = fmaxf(top, mine);
  }
  if (top > seen.max) {  // rare, after the first tiles
    seen.sum *= exponential(seen.max - top);
    seen.max = top;
  }
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    float x[lanes<T>], sum = 0.0f;
    unpack<T>(tile.vector[v], x);
#pragma unroll
    for (int i = 0; i < lanes<T>; ++i) sum += exponential(x[i] - seen.max);
    seen.sum += sum;
  }
}
