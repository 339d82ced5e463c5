// cub::BlockStore: the items of a block's threads, as a tile of global memory.
#pragma once

#include "block_exchange.cuh"

namespace cub {

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

// See BlockLoad.
template <typename T, int BlockDimX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockStore {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr bool transposes = Algorithm >= BLOCK_STORE_TRANSPOSE;
  using Exchange = BlockExchange<T, BlockDimX, Items, false, BlockDimY, BlockDimZ>;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<transposes, typename Exchange::TempStorage, Nothing>;
  explicit BlockStore(TempStorage& storage) : storage_(storage) {}

  template <typename Iterator>
  void Store(Iterator to, T (&items)[Items]) {
    Store(to, items, threads * Items);
  }
  // Only the first `valid` items of the tile.
  template <typename Iterator>
  void Store(Iterator to, T (&items)[Items], int valid) {
    const int rank = static_cast<int>(WarpId() * 32 + LaneId());
    constexpr bool own = Algorithm == BLOCK_STORE_DIRECT || Algorithm == BLOCK_STORE_VECTORIZE;
    if constexpr (transposes) Exchange(storage_).BlockedToStriped(items);
    for (int k = 0; k < Items; k++) {
      const int i = own ? rank * Items + k : k * threads + rank;
      if (i < valid) to[i] = items[k];
    }
  }

 private:
  TempStorage& storage_;
};

// Without shared memory: a thread's own items.
template <typename Output, typename T, int Items>
void StoreDirectBlocked(int thread, Output to, const T (&items)[Items], int valid = 1 << 30) {
  for (int k = 0; k < Items; k++)
    if (thread * Items + k < valid) to[thread * Items + k] = items[k];
}
template <int threads, typename Output, typename T, int Items>
void StoreDirectStriped(int thread, Output to, const T (&items)[Items], int valid = 1 << 30) {
  for (int k = 0; k < Items; k++)
    if (k * threads + thread < valid) to[k * threads + thread] = items[k];
}

}  // namespace cub
