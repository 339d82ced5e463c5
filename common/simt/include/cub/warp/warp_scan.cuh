// cub::WarpScan: by shuffles.
#pragma once

#include "shuffles.cuh"

namespace cub {

template <typename T, int LogicalWarpThreads = 32>
class WarpScan {
  static_assert(LogicalWarpThreads >= 1 && LogicalWarpThreads <= 32 &&
                    (LogicalWarpThreads & (LogicalWarpThreads - 1)) == 0,
                "here a logical warp has a power of two of threads, at most 32");
  static constexpr int width = LogicalWarpThreads;

 public:
  struct TempStorage {};
  explicit WarpScan(TempStorage&) {}

  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    output = detail::scan_lanes(input, operation, width, width);
  }
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& warp_aggregate) {
    InclusiveScan(input, output, operation);
    warp_aggregate = Broadcast(output, width - 1);
  }
  // Without an initial value lane 0's output is undefined.
  template <typename Operation>
  void ExclusiveScan(T input, T& output, Operation operation) {
    output = before(detail::scan_lanes(input, operation, width, width));
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial_value, Operation operation) {
    T all;
    ExclusiveScan(input, output, initial_value, operation, all);
  }
  // warp_aggregate does not include the initial value.
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial_value, Operation operation, T& warp_aggregate) {
    T own;
    InclusiveScan(input, own, operation, warp_aggregate);
    const T below = before(own);
    output = LaneId() % width > 0 ? operation(initial_value, below) : initial_value;
  }
  template <typename Operation>
  void Scan(T input, T& inclusive, T& exclusive, Operation operation) {
    InclusiveScan(input, inclusive, operation);
    exclusive = before(inclusive);
  }
  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, Sum()); }
  void InclusiveSum(T input, T& output, T& warp_aggregate) { InclusiveScan(input, output, Sum(), warp_aggregate); }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), Sum()); }
  void ExclusiveSum(T input, T& output, T& warp_aggregate) { ExclusiveScan(input, output, T(), Sum(), warp_aggregate); }
  T Broadcast(T input, unsigned source_lane) {
    return detail::from_lane(detail::lanes(width, width), input, static_cast<int>(source_lane), width);
  }

 private:
  static T before(const T& own) { return detail::from_below(detail::lanes(width, width), own, 1, width); }
};

}  // namespace cub
