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

  // Segments begin at a head flag, or end at a tail flag; the result is in the first lane of each.
  template <typename Flag, typename Operation>
  T HeadSegmentedReduce(T input, Flag head, Operation operation) {
    const unsigned later = flags(head) & ~((2u << lane()) - 1);
    return segment(input, operation, later ? __ffs(static_cast<int>(later)) - 1 : width);
  }
  template <typename Flag, typename Operation>
  T TailSegmentedReduce(T input, Flag tail, Operation operation) {
    const unsigned own_or_later = flags(tail) & ~((1u << lane()) - 1);
    return segment(input, operation, own_or_later ? __ffs(static_cast<int>(own_or_later)) : width);
  }
  template <typename Flag>
  T HeadSegmentedSum(T input, Flag head) {
    return HeadSegmentedReduce(input, head, cub::Sum());
  }
  template <typename Flag>
  T TailSegmentedSum(T input, Flag tail) {
    return TailSegmentedReduce(input, tail, cub::Sum());
  }

 private:
  static int lane() { return static_cast<int>(LaneId()) % width; }
  template <typename Flag>
  static unsigned flags(Flag flag) {
    return __ballot_sync(detail::lanes(width, width), static_cast<bool>(flag)) >> (LaneId() / width * width);
  }
  // The items of the lanes from the caller's own to `end`.
  template <typename Operation>
  static T segment(T value, Operation operation, int end) {
    for (int step = 1; step < width; step *= 2) {
      const T other =
          detail::from_lane(detail::lanes(width, width), value, lane() + step < end ? lane() + step : lane(), width);
      if (lane() + step < end) value = operation(value, other);
    }
    return value;
  }
};

}  // namespace cub
