// cub::WarpStore: items of a warp's lanes, to its tile of global memory. Items beyond the first `valid` are left alone.
#pragma once

#include "warp_exchange.cuh"

namespace cub {

enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };

template <typename T, int Items, WarpStoreAlgorithm Algorithm = WARP_STORE_DIRECT, int Lanes = 32>
class WarpStore {
  static constexpr bool transposes = Algorithm == WARP_STORE_TRANSPOSE;
  static constexpr bool own = Algorithm == WARP_STORE_DIRECT || Algorithm == WARP_STORE_VECTORIZE;
  using Exchange = WarpExchange<T, Items, Lanes>;
  struct Nothing {};
  static int lane() { return static_cast<int>(LaneId()) % Lanes; }

 public:
  using TempStorage = std::conditional_t<transposes, typename Exchange::TempStorage, Nothing>;
  explicit WarpStore(TempStorage& storage) : storage_(storage) {}

  template <typename Iterator>
  void Store(Iterator to, T (&items)[Items], int valid = Lanes * Items) {
    T moved[Items];
    for (int k = 0; k < Items; k++) moved[k] = items[k];
    if constexpr (transposes) Exchange(storage_).BlockedToStriped(moved, moved);
    for (int k = 0; k < Items; k++) {
      const int i = own ? lane() * Items + k : k * Lanes + lane();
      if (i < valid) to[i] = moved[k];
    }
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
