// cub::BlockExchange: items of a block change threads, through shared memory.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

// Blocked: thread t has items t * Items + k. Striped: it has items k * threads + t; warp-striped: the same within each
// warp's part. Between two uses of one TempStorage the program needs a __syncthreads().
template <typename T, int BlockDimX, int Items, bool WarpTimeSlicing = false, int BlockDimY = 1, int BlockDimZ = 1>
class BlockExchange {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;

 public:
  struct TempStorage {
    detail::Slots<T, threads * Items> items;
  };
  explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

  template <typename Out>
  void StripedToBlocked(const T (&input)[Items], Out (&output)[Items]) {
    move(input, output, striped, blocked);
  }
  template <typename Out>
  void BlockedToStriped(const T (&input)[Items], Out (&output)[Items]) {
    move(input, output, blocked, striped);
  }
  template <typename Out>
  void WarpStripedToBlocked(const T (&input)[Items], Out (&output)[Items]) {
    move(input, output, warp_striped, blocked);
  }
  template <typename Out>
  void BlockedToWarpStriped(const T (&input)[Items], Out (&output)[Items]) {
    move(input, output, blocked, warp_striped);
  }
  // Item k goes to rank ranks[k] of the block.
  template <typename Out, typename Rank>
  void ScatterToBlocked(const T (&input)[Items], Out (&output)[Items], Rank (&ranks)[Items]) {
    move(
        input, output, [&](int k) { return static_cast<int>(ranks[k]); }, blocked);
  }
  template <typename Out, typename Rank>
  void ScatterToStriped(const T (&input)[Items], Out (&output)[Items], Rank (&ranks)[Items]) {
    move(
        input, output, [&](int k) { return static_cast<int>(ranks[k]); }, striped);
  }
  // In place.
  void StripedToBlocked(T (&items)[Items]) { StripedToBlocked(items, items); }
  void BlockedToStriped(T (&items)[Items]) { BlockedToStriped(items, items); }
  void WarpStripedToBlocked(T (&items)[Items]) { WarpStripedToBlocked(items, items); }
  void BlockedToWarpStriped(T (&items)[Items]) { BlockedToWarpStriped(items, items); }
  template <typename Rank>
  void ScatterToBlocked(T (&items)[Items], Rank (&ranks)[Items]) {
    ScatterToBlocked(items, items, ranks);
  }
  template <typename Rank>
  void ScatterToStriped(T (&items)[Items], Rank (&ranks)[Items]) {
    ScatterToStriped(items, items, ranks);
  }

 private:
  static int rank() { return static_cast<int>(WarpId() * 32 + LaneId()); }
  static int blocked(int k) { return rank() * Items + k; }
  static int striped(int k) { return k * threads + rank(); }
  static int warp_striped(int k) {
    const int first = static_cast<int>(WarpId()) * 32, present = threads - first < 32 ? threads - first : 32;
    return first * Items + k * present + static_cast<int>(LaneId());
  }
  template <typename Out, typename From, typename To>
  void move(const T* input, Out* output, From from, To to) {
    for (int k = 0; k < Items; k++) storage_.items[from(k)] = input[k];
    __syncthreads();
    for (int k = 0; k < Items; k++) output[k] = storage_.items[to(k)];
  }

  TempStorage& storage_;
};

}  // namespace cub
