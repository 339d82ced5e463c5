// Lab 07, given: a tile of cores, its norm, its router and its exchange.
#pragma once

#include "core.h"

// A tile during the step.
template <typename T>
struct Tile {
  T *state, *norm, *hidden;  // rows of the workspace: (cores, d_model), (cores, d_model), (cores, d_ff)
  int first, cores;          // of the step's cores; the last tile may have fewer than it has room for
  int rank, blocks;          // of the group of blocks that owns it
};

// n(i) = state(i) / rms(state) * weight(i), by a warp. keep(i, values): takes a pack of them.
template <typename T, typename Keep>
__device__ void normalise_row(const T* state, const T* weight, int d, Keep keep) {
  float values[pack_size<T>], weights[pack_size<T>];
  float squares = 0.0f;
  for (int i = threadIdx.x % 32 * pack_size<T>; i < d; i += 32 * pack_size<T>) {
    load_pack(state + i, values);
#pragma unroll
    for (int j = 0; j < pack_size<T>; ++j) squares += values[j] * values[j];
  }
  const float scale = inverse_rms(warp_sum(squares), d);
  for (int i = threadIdx.x % 32 * pack_size<T>; i < d; i += 32 * pack_size<T>) {
    load_pack(state + i, values);
    load_pack(weight + i, weights);
#pragma unroll
    for (int j = 0; j < pack_size<T>; ++j) values[j] *= scale * weights[j];
    keep(i, values);
  }
}

// The router and the exchange, for some of the tile's cores: `count` from `core` on, at most Own.
template <typename T, int Own>
__device__ void route(const SwapFfn<T>& step, const Tile<T>& tile, int core, int count, float* shared) {
  const int d = step.sizes.d_model, router = step.sizes.d_router, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* const n = shared;            // (Own, d_model)
  float* const z = shared + Own * d;  // (Own, most_router)
  T* const states = tile.state + static_cast<size_t>(core) * d;
  __syncthreads();
  if (warp < count) {
    normalise_row(states + static_cast<size_t>(warp) * d, step.router_norm, d,
                  [&](int i, const float(&values)[pack_size<T>]) {
                    for (int j = 0; j < pack_size<T>; ++j) n[warp * d + i + j] = values[j];
                  });
  }
  __syncthreads();
  // A row of weights is loaded once for all cores.
  for (int q = warp; q < router; q += warps) {
    float sums[Own] = {};
    for (int i = lane * pack_size<T>; i < d; i += 32 * pack_size<T>) {
      float weights[pack_size<T>];
      load_pack(step.router_w + static_cast<size_t>(q) * d + i, weights);
#pragma unroll
      for (int c = 0; c < Own; ++c) {
        if (c >= count) break;
#pragma unroll
        for (int j = 0; j < pack_size<T>; ++j) sums[c] += weights[j] * n[c * d + i + j];
      }
    }
#pragma unroll
    for (int c = 0; c < Own; ++c) {
      sums[c] = warp_sum(sums[c]);
      if (lane == 0) z[c * most_router + q] = sums[c];
    }
  }
  __syncthreads();
  if (warp >= count) return;
  const int of_step = tile.first + core + warp;
  unsigned lanes = step.lanes_out[of_step];
  const int bank = decide(step, z + warp * most_router, &lanes);
  __syncwarp();
  if (bank < 0) return;
  if (lane == 0) step.lanes_out[of_step] = static_cast<uint8_t>(lanes);
  T* const x = states + static_cast<size_t>(warp) * d;
  T* const ram = step.ram_out + (static_cast<size_t>(of_step) * banks + bank) * d;
  for (int i = lane; i < d; i += 32) {
    const T before = x[i];
    x[i] = ram[i];
    ram[i] = before;
  }
}
