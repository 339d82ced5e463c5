// Lab 06, given: narrow rows that are not aligned, one thread per row.
#pragma once

#include "hopper.h"
#include "pack.h"

// One thread per row. A tile begins and ends on a 16-byte boundary, whatever the width of its rows.
constexpr int tile_rows = 128;
template <typename T>
__global__ void __launch_bounds__(tile_rows)
    tile_kernel(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  uint4* const tile = dynamic_shared();  // the block's rows as they lie in memory
  const int t = threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * tile_rows;
  const int mine = static_cast<int>(min(static_cast<size_t>(tile_rows), rows - first));
  const int elements = mine * cols, packs = elements / width<T>, last = packs * width<T> + t;
  T* element = reinterpret_cast<T*>(tile);
  x += first * cols;
  y += first * cols;
  wait_for_kernel_before();

  for (int p = t; p < packs; p += tile_rows) tile[p] = reinterpret_cast<const uint4*>(x)[p];
  if (last < elements) element[last] = x[last];
  __syncthreads();
  if (t < mine) {
    T* row = element + t * cols;
    float max = lowest, sum = 0.0f;
#pragma unroll 4
    for (int c = 0; c < cols; ++c) max = fmaxf(max, to_float(row[c]));
#pragma unroll 4
    for (int c = 0; c < cols; ++c) sum += exponential(to_float(row[c]) - max);
    const float scale = inverse(sum);
#pragma unroll 4
    for (int c = 0; c < cols; ++c) from_float(exponential(to_float(row[c]) - max) * scale, row + c);
  }
  __syncthreads();
  for (int p = t; p < packs; p += tile_rows) __stcs(reinterpret_cast<uint4*>(y) + p, tile[p]);
  if (last < elements) y[last] = element[last];
}
