// cub::BlockScan: shuffles within each warp, shared memory and one barrier between them.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

// Between two uses of one TempStorage the program needs a __syncthreads().
template <typename T, int BlockDimX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int BlockDimY = 1, int BlockDimZ = 1>
class BlockScan {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    detail::Slots<T, warps> totals;
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& block_aggregate) {
    const Part part = scan(input, operation);
    output = part.has_before ? operation(part.before, part.own) : part.own;
    block_aggregate = part.all;
  }
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    T all;
    InclusiveScan(input, output, operation, all);
  }
  // block_aggregate is without the initial value.
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial_value, Operation operation, T& block_aggregate) {
    const Part part = scan(input, operation);
    T before = part.has_before ? operation(initial_value, part.before) : initial_value;
    const int width = 32, present = here();
    const T below = detail::from_below(detail::lanes(present, width), part.own, 1, width);
    output = LaneId() > 0 ? operation(before, below) : before;
    block_aggregate = part.all;
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial_value, Operation operation) {
    T all;
    ExclusiveScan(input, output, initial_value, operation, all);
  }
  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, Plus()); }
  void InclusiveSum(T input, T& output, T& block_aggregate) { InclusiveScan(input, output, Plus(), block_aggregate); }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), Plus()); }
  void ExclusiveSum(T input, T& output, T& block_aggregate) {
    ExclusiveScan(input, output, T(), Plus(), block_aggregate);
  }

  // Each thread has Items that follow one another.
  template <int Items>
  void InclusiveSum(T (&input)[Items], T (&output)[Items]) {
    T before = exclusive_of(input);
    for (int i = 0; i < Items; i++) output[i] = before = before + input[i];
  }
  template <int Items>
  void ExclusiveSum(T (&input)[Items], T (&output)[Items]) {
    T before = exclusive_of(input);
    for (int i = 0; i < Items; i++) {
      const T item = input[i];  // output may be input
      output[i] = before;
      before = before + item;
    }
  }

 private:
  using Plus = cub::Sum;
  struct Part {
    T own, before, all;  // up to this lane in its warp, of the warps before, of the block
    bool has_before;
  };
  static int here() {
    const int left = threads - static_cast<int>(WarpId()) * 32;
    return left < 32 ? left : 32;
  }
  template <int Items>
  T exclusive_of(T (&input)[Items]) {
    T own = input[0], before;
    for (int i = 1; i < Items; i++) own = own + input[i];
    ExclusiveSum(own, before);
    return before;
  }
  template <typename Operation>
  Part scan(T input, Operation operation) {
    const int warp = static_cast<int>(WarpId()), present = here();
    Part part{detail::scan_lanes(input, operation, present, 32), {}, {}, warp > 0};
    if (static_cast<int>(LaneId()) == present - 1) storage_.totals[warp] = part.own;
    __syncthreads();
    part.all = storage_.totals[0];
    for (int i = 1; i < warps; i++) {
      if (i == warp) part.before = part.all;
      part.all = operation(part.all, storage_.totals[i]);
    }
    return part;
  }

  TempStorage& storage_;
};

}  // namespace cub
