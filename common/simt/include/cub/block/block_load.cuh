// cub::BlockLoad: a block's tile of global memory, as items of its threads.
#pragma once

#include "block_exchange.cuh"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

// Direct and vectorised: each thread reads its own items (here one by one). Transposing: the block reads striped, and
// the items change threads in shared memory; the warp's transpositions do here what the block's does.
template <typename T, int BlockDimX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockLoad {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr bool transposes = Algorithm >= BLOCK_LOAD_TRANSPOSE;
  using Exchange = BlockExchange<T, BlockDimX, Items, false, BlockDimY, BlockDimZ>;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<transposes, typename Exchange::TempStorage, Nothing>;
  explicit BlockLoad(TempStorage& storage) : storage_(storage) {}

  template <typename Iterator>
  void Load(Iterator from, T (&items)[Items]) {
    Load(from, items, threads * Items);
  }
  // Items beyond the first `valid` keep the value that they had in the threads.
  template <typename Iterator>
  void Load(Iterator from, T (&items)[Items], int valid) {
    const int rank = static_cast<int>(WarpId() * 32 + LaneId());
    constexpr bool own = Algorithm == BLOCK_LOAD_DIRECT || Algorithm == BLOCK_LOAD_VECTORIZE;
    for (int k = 0; k < Items; k++) {
      const int i = own ? rank * Items + k : k * threads + rank;
      if (i < valid) items[k] = from[i];
    }
    if constexpr (transposes) Exchange(storage_).StripedToBlocked(items);
  }
  template <typename Iterator, typename Default>
  void Load(Iterator from, T (&items)[Items], int valid, Default otherwise) {
    for (int k = 0; k < Items; k++) items[k] = otherwise;
    Load(from, items, valid);
  }

 private:
  TempStorage& storage_;
};

// Without shared memory: a thread's own items. What is not valid stays as it is, or becomes `otherwise`.
template <typename Input, typename T, int Items>
void LoadDirectBlocked(int thread, Input from, T (&items)[Items], int valid = 1 << 30) {
  for (int k = 0; k < Items; k++)
    if (thread * Items + k < valid) items[k] = from[thread * Items + k];
}
template <typename Input, typename T, int Items, typename Otherwise>
void LoadDirectBlocked(int thread, Input from, T (&items)[Items], int valid, Otherwise otherwise) {
  for (T& item : items) item = otherwise;
  LoadDirectBlocked(thread, from, items, valid);
}
template <int threads, typename Input, typename T, int Items>
void LoadDirectStriped(int thread, Input from, T (&items)[Items], int valid = 1 << 30) {
  for (int k = 0; k < Items; k++)
    if (k * threads + thread < valid) items[k] = from[k * threads + thread];
}
template <int threads, typename Input, typename T, int Items, typename Otherwise>
void LoadDirectStriped(int thread, Input from, T (&items)[Items], int valid, Otherwise otherwise) {
  for (T& item : items) item = otherwise;
  LoadDirectStriped<threads>(thread, from, items, valid);
}

}  // namespace cub
