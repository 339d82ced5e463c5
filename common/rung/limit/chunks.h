// Lab 06, given: rows that no block and no cluster can hold. They are read twice, by many blocks.
#pragma once

#include <algorithm>

#include "cluster.h"
#include "launch.h"

// A row in chunks. Block b has chunk b % chunks; chunk 0 also has head and tail. Without Finish it computes every
// chunk's (max, sum) and passes it to all chunks of the row, through y: chunk c's pair becomes pair c at the beginning
// of each chunk. With Finish a block folds the pairs in its own chunk, then overwrites it with the result. (With one
// list for all, a block could not know whether the others have read what it is about to overwrite.)
constexpr int chunk_threads = 256;  // per block, and at most so many chunks per row
constexpr int chunk_packs = 4;      // of a thread, at a time
template <typename T, bool Finish>
__global__ void __launch_bounds__(chunk_threads)
    chunk_kernel(const T* __restrict__ x, T* __restrict__ y, int first_row, int cols, int chunks) {
  const size_t start = (first_row + static_cast<size_t>(blockIdx.x / chunks)) * cols;
  const int chunk = blockIdx.x % chunks, t = threadIdx.x;
  const Split split = split_row<T>(start, cols);
  const int column = chunk == 0 ? single_column<T>(split, t) : -1;
  const auto begin = [&](int c) { return static_cast<int>(static_cast<long long>(split.packs) * c / chunks); };
  const int first = begin(chunk), end = begin(chunk + 1);
  const uint4* x_packs = reinterpret_cast<const uint4*>(x + start + split.head);
  uint4* y_packs = reinterpret_cast<uint4*>(y + start + split.head);
  wait_for_kernel_before();

  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  MaxSum mine = {lowest, 0.0f};
  if (Finish) {
    const float2 pair = t < chunks ? reinterpret_cast<const float2*>(y_packs + first)[t] : make_float2(lowest, 0.0f);
    mine = {pair.x, pair.y};
  } else {
    mine = merge(mine, {fmaxf(lowest, single), exponential(single - fmaxf(lowest, single))});
    for (int p = first + t; p < end; p += chunk_packs * chunk_threads) {
      Share<T, chunk_packs> share(p, end, chunk_threads);
      share.template load<true>(x_packs);
      const float max = share.largest();
      mine = merge(mine, {max, share.exponentials(max)});
    }
  }
  __shared__ Exchange exchange;  // of the warps of this block
  const MaxSum all = reduce_cluster(mine, exchange);
  if (!Finish) {
    if (t < chunks) reinterpret_cast<float2*>(y_packs + begin(t))[chunk] = make_float2(all.max, all.sum);
    return;
  }
  const float scale = inverse(all.sum);
  for (int p = first + t; p < end; p += chunk_packs * chunk_threads) {
    Share<T, chunk_packs> share(p, end, chunk_threads);
    share.template load<true>(x_packs);
    share.exponentials(all.max);
    share.store(y_packs, scale, all.max, scale);
  }
  if (column >= 0) from_float(exponential(single - all.max) * scale, y + start + column);
}

// In groups of rows that fit in half of the L2 cache, so that the second kernel finds there what the first has read.
template <typename T>
cudaError_t launch_chunks(const T* x, T* y, int rows, int cols, const Device& device, cudaStream_t stream) {
  const size_t row_bytes = cols * sizeof(T);
  const int together = static_cast<int>(std::max(size_t{1}, device.l2_bytes / 2 / row_bytes));
  const int chunks =
      static_cast<int>(std::min(size_t{chunk_threads}, std::max(size_t{1}, row_bytes >> 14)));  // of 16 KB
  cudaError_t error = cudaSuccess;
  for (int first = 0; first < rows && !error; first += together) {
    const size_t blocks = static_cast<size_t>(std::min(together, rows - first)) * chunks;
    const auto pass = [&](auto kernel) {
      if (!error) error = launch(kernel, blocks, chunk_threads, 0, 1, device, stream, x, y, first, cols, chunks);
    };
    pass(chunk_kernel<T, false>);
    pass(chunk_kernel<T, true>);
  }
  return error;
}
