// cub::BlockHistogram: counters in shared or global memory, by atomics whatever the algorithm is called.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

// An item is the number of its bin. Before the counters are read, and between two uses, the program needs a
// __syncthreads().
template <typename T, int BlockDimX, int Items, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockHistogram {
 public:
  struct TempStorage {};
  BlockHistogram() = default;
  explicit BlockHistogram(TempStorage&) {}

  template <typename Counter>
  void InitHistogram(Counter (&histogram)[Bins]) {
    for (int bin = static_cast<int>(WarpId() * 32 + LaneId()); bin < Bins; bin += BlockDimX * BlockDimY * BlockDimZ)
      histogram[bin] = 0;
  }
  template <typename Counter>
  void Histogram(T (&items)[Items], Counter (&histogram)[Bins]) {
    InitHistogram(histogram);
    __syncthreads();
    Composite(items, histogram);
  }
  // Adds to what the counters are.
  template <typename Counter>
  void Composite(T (&items)[Items], Counter (&histogram)[Bins]) {
    for (const T& item : items)
      simt::atomic_update(&histogram[item], [](Counter old) { return static_cast<Counter>(old + 1); });
  }
};

}  // namespace cub
