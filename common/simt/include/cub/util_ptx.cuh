// CUB's names for instructions: shuffles of any type, the masks of a lane, bits of a word.
#pragma once

#include "warp/shuffles.cuh"

namespace cub {

// Lanes before the first or behind the last of the part keep their own.
template <int Lanes, typename T>
T ShuffleUp(T value, int step, int first_lane, unsigned mask) {
  const int lane = static_cast<int>(LaneId()) % Lanes;
  return detail::from_lane(mask, value, lane - step >= first_lane ? lane - step : lane, Lanes);
}
template <int Lanes, typename T>
T ShuffleDown(T value, int step, int last_lane, unsigned mask) {
  const int lane = static_cast<int>(LaneId()) % Lanes;
  return detail::from_lane(mask, value, lane + step <= last_lane ? lane + step : lane, Lanes);
}
template <int Lanes, typename T>
T ShuffleIndex(T value, int lane, unsigned mask) {
  return detail::from_lane(mask, value, lane, Lanes);
}

inline unsigned LaneMaskLt() { return (1u << LaneId()) - 1; }
inline unsigned LaneMaskLe() { return LaneMaskLt() | 1u << LaneId(); }
inline unsigned LaneMaskGt() { return ~LaneMaskLe(); }
inline unsigned LaneMaskGe() { return ~LaneMaskLt(); }
inline int RowMajorTid(int columns, int rows, int) {
  return static_cast<int>((threadIdx.z * rows + threadIdx.y) * columns + threadIdx.x);
}

template <typename UInt>
unsigned BFE(UInt word, unsigned first, unsigned count) {
  return static_cast<unsigned>(word >> first) & (count >= 32 ? ~0u : (1u << count) - 1);
}

}  // namespace cub
