// cub::WarpLoad: a warp's tile of global memory, as items of its lanes. Items beyond the first `valid` are left alone.
#pragma once

#include "warp_exchange.cuh"

namespace cub {

enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };

template <typename T, int Items, WarpLoadAlgorithm Algorithm = WARP_LOAD_DIRECT, int Lanes = 32>
class WarpLoad {
  static constexpr bool transposes = Algorithm == WARP_LOAD_TRANSPOSE;
  static constexpr bool own = Algorithm == WARP_LOAD_DIRECT || Algorithm == WARP_LOAD_VECTORIZE;
  using Exchange = WarpExchange<T, Items, Lanes>;
  struct Nothing {};
  static int lane() { return static_cast<int>(LaneId()) % Lanes; }

 public:
  using TempStorage = std::conditional_t<transposes, typename Exchange::TempStorage, Nothing>;
  explicit WarpLoad(TempStorage& storage) : storage_(storage) {}

  template <typename Iterator>
  void Load(Iterator from, T (&items)[Items], int valid = Lanes * Items) {
    for (int k = 0; k < Items; k++) {
      const int i = own ? lane() * Items + k : k * Lanes + lane();
      if (i < valid) items[k] = from[i];
    }
    if constexpr (transposes) Exchange(storage_).StripedToBlocked(items, items);
  }
  template <typename Iterator, typename Otherwise>
  void Load(Iterator from, T (&items)[Items], int valid, Otherwise otherwise) {
    for (T& item : items) item = otherwise;
    Load(from, items, valid);
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
