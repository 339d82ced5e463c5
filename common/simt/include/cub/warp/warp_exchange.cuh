// cub::WarpExchange: items of a warp, or of a part of one, change lanes, through shared memory.
#pragma once

#include "shuffles.cuh"

namespace cub {

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

// Blocked: lane t has items t * Items + k. Striped: it has items k * lanes + t.
template <typename T, int Items, int Lanes = 32, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
 public:
  struct TempStorage {
    detail::Slots<T, Lanes * Items> items;
  };
  explicit WarpExchange(TempStorage& storage) : storage_(storage) {}

  template <typename Out>
  void StripedToBlocked(const T (&input)[Items], Out (&output)[Items]) {
    move(input, output, striped, blocked);
  }
  template <typename Out>
  void BlockedToStriped(const T (&input)[Items], Out (&output)[Items]) {
    move(input, output, blocked, striped);
  }
  template <typename Out, typename Rank>
  void ScatterToStriped(const T (&input)[Items], Out (&output)[Items], const Rank (&ranks)[Items]) {
    move(
        input, output, [&](int k) { return static_cast<int>(ranks[k]); }, striped);
  }
  template <typename Rank>
  void ScatterToStriped(T (&items)[Items], const Rank (&ranks)[Items]) {
    ScatterToStriped(items, items, ranks);
  }

 private:
  static int lane() { return static_cast<int>(LaneId()) % Lanes; }
  static int blocked(int k) { return lane() * Items + k; }
  static int striped(int k) { return k * Lanes + lane(); }
  template <typename Out, typename From, typename To>
  void move(const T* input, Out* output, From from, To to) {
    for (int k = 0; k < Items; k++) storage_.items[from(k)] = input[k];
    __syncwarp(detail::lanes(Lanes, Lanes));
    for (int k = 0; k < Items; k++) output[k] = storage_.items[to(k)];
  }

  TempStorage& storage_;
};

}  // namespace cub
