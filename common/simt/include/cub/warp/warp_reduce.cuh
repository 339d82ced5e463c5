// cub::WarpReduce, by shuffles: the checks and the counters see it as any kernel's code.
#pragma once

#include "shuffles.cuh"

namespace cub {

// The result is in lane 0 of each logical warp; in the other lanes it is undefined.
template <typename T, int LogicalWarpThreads = 32>
class WarpReduce {
  static_assert(LogicalWarpThreads >= 1 && LogicalWarpThreads <= 32 &&
                    (LogicalWarpThreads & (LogicalWarpThreads - 1)) == 0,
                "here a logical warp has a power of two of threads, at most 32");
  static constexpr int width = LogicalWarpThreads;

 public:
  struct TempStorage {};
  explicit WarpReduce(TempStorage&) {}

  template <typename Operation>
  T Reduce(T input, Operation operation) {
    return detail::reduce_lanes(input, operation, width, width, width);
  }
  template <typename Operation>
  T Reduce(T input, Operation operation, int valid_items) {
    return detail::reduce_lanes(input, operation, valid_items, width, width);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int valid_items) { return Reduce(input, cub::Sum(), valid_items); }
};

}  // namespace cub
