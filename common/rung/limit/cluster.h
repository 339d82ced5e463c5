// Lab 06, given: a row that several blocks share, or that one block keeps in part in shared memory.
//
// Uses reduce_lanes and Share, which must be declared before it is included.
#pragma once

#include "hopper.h"
#include "launch.h"
#include "pack.h"

constexpr int most_blocks = 16;  // of a cluster
constexpr int most_steps = 16;   // in which a block goes through a row that it keeps in shared memory

// As reduce_lanes of all 32 lanes, with one instruction for the maximum instead of five exchanges. It compares
// integers: the bits of floats, those of negative ones inverted, are in the same order.
__device__ MaxSum reduce_warp(MaxSum mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return reduce_lanes(mine, 32);
#else
  const auto ordered = [](int bits) { return bits ^ (bits >> 31 & 0x7FFFFFFF); };  // its own inverse
  const int largest = __reduce_max_sync(0xFFFFFFFF, ordered(__float_as_int(mine.max)));
  const float max = __int_as_float(ordered(largest));
  float sum = mine.sum * exponential(mine.max - max);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, offset);
  return {max, sum};
#endif
}

// Pairs in the shared memory of each block of a cluster.
struct Exchange {
  MaxSum of_warp[most_warps];    // of this block
  MaxSum of_block[most_blocks];  // sent by all blocks
  unsigned long long arrived;    // counts their bytes
};

// All threads call it at the start.
__device__ void begin_exchange(Exchange& exchange) {
  const int blocks = cluster_blocks();
  if (blocks > 1) begin_exchange(&exchange.arrived, blocks * static_cast<int>(sizeof(MaxSum)));
}

// Folds the pairs of all threads of the cluster; every thread gets the result. All threads must call it, once.
//
// The first warp folds the block's pairs and sends the result to every block.
__device__ MaxSum reduce_cluster(MaxSum mine, Exchange& exchange) {
  const int blocks = cluster_blocks(), lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const MaxSum nothing = {lowest, 0.0f};
  if (blocks == 1) {  // apart, and without reduce_warp: so the compiler needs fewer registers
    mine = reduce_lanes(mine, 32);
    if (lane == 0) exchange.of_warp[warp] = mine;
    __syncthreads();
    return reduce_lanes(lane < warps ? exchange.of_warp[lane] : nothing, 32);
  }
  mine = reduce_warp(mine);
  if (lane == 0) exchange.of_warp[warp] = mine;
  __syncthreads();
  if (warp == 0) mine = reduce_warp(lane < warps ? exchange.of_warp[lane] : nothing);
  cluster_wait();  // until every block has begun: before that nothing can be sent to it
  if (warp == 0 && lane < blocks) send(mine, exchange.of_block + cluster_rank(), lane, &exchange.arrived);
  wait_for(&exchange.arrived);
  return reduce_warp(lane < blocks ? exchange.of_block[lane] : nothing);
}

// One cluster per row; a cluster may be one block. Every thread holds Packs packs in registers. If there are More, they
// go to dynamic shared memory, brought by the copy engine, and the threads take them from there two at a time, while
// the rest is in flight.
//
// Places for packs are counted from the 128-byte line in which the row's packs begin, so that the accesses of a warp
// cover whole lines; the first places may lie before pack 0.
//
// The number of blocks is passed as the logarithm of a power of two: a division by a number that the compiler does not
// know takes 20 instructions or more, before the first load. With two divisions 8192 x 8192 halves took 1.5 % longer.
template <typename T, int Packs, bool More>
__global__ void __launch_bounds__(threads_with(Packs), resident_with(Packs))
    cluster_kernel(const T* __restrict__ x, T* __restrict__ y, int cols, int log_blocks) {
  uint4* const shared = dynamic_shared();
  __shared__ unsigned long long there[most_steps];
  const int blocks = 1 << log_blocks, rank = blockIdx.x & (blocks - 1), threads = blockDim.x, t = threadIdx.x;
  __shared__ Exchange exchange;
  begin_exchange(exchange);
  const size_t start = static_cast<size_t>(blockIdx.x >> log_blocks) * cols;
  const Split split = split_row<T>(start, cols);
  const int column = rank == 0 ? single_column<T>(split, t) : -1;
  const int before = static_cast<int>((start + split.head) / width<T> % line);
  const int places = (((before + split.packs + blocks - 1) >> log_blocks) + line - 1) / line * line;
  const int first = rank * places - before, end = min(split.packs, first + places);
  const int more = first + Packs * threads, steps = More ? max(0, end - more + 2 * threads - 1) / (2 * threads) : 0;
  const uint4* x_packs = reinterpret_cast<const uint4*>(x + start + split.head);
  uint4* y_packs = reinterpret_cast<uint4*>(y + start + split.head);
  if (More) {
    if (t == 0) {
      for (int s = 0; s < steps; ++s) begin_barrier(there + s);
      barriers_begun();
    }
    __syncthreads();
  }
  wait_for_kernel_before();

  if (More) {
    for (int s = 0; s < steps; ++s) {
      const int p = more + s * 2 * threads;
      fetch(shared + (p - more), x_packs + p, min(2 * threads, end - p), there + s);
    }
  }
  Share<T, Packs> share(first + t, end, threads);
  // Rows that are not aligned share sectors with their neighbours, which L1 may keep.
  if (More || cols % width<T> != 0) {
    share.template load<false>(x_packs);
  } else {
    share.template load<true>(x_packs);
  }
  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  MaxSum mine = {max, share.exponentials(max) + e};
  for (int s = 0; s < steps; ++s) {
    wait_for(there + s);
    Share<T, 2> step(more + s * 2 * threads + t, end, threads);
    step.template load<false>(shared - more);
    const float its_max = step.largest();
    mine = merge(mine, {its_max, step.exponentials(its_max)});
  }
  const MaxSum all = reduce_cluster(mine, exchange);
  const float scale = inverse(all.sum), factor = exponential(max - all.max) * scale;
  share.store(y_packs, factor, all.max, scale);
  if (column >= 0) from_float(e * factor, y + start + column);
  for (int s = 0; s < steps; ++s) {
    Share<T, 2> step(more + s * 2 * threads + t, end, threads);
    step.template load<false>(shared - more);
    step.exponentials(all.max);
    step.store(y_packs, scale, all.max, scale);
  }
}
