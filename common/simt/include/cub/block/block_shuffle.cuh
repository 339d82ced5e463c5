// cub::BlockShuffle: items move between a block's threads by a distance, through shared memory.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

// What comes from outside the block leaves the output as it was. Between two uses of one TempStorage the program needs
// a
// __syncthreads().
template <typename T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockShuffle {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;

 public:
  struct TempStorage {
    detail::Slots<T, threads> items;
  };
  explicit BlockShuffle(TempStorage& storage) : storage_(storage) {}

  // From the thread `distance` further on.
  void Offset(T input, T& output, int distance = 1) {
    share(input);
    const int from = rank() + distance;
    if (from >= 0 && from < threads) output = storage_.items[from];
  }
  void Rotate(T input, T& output, unsigned distance = 1) {
    share(input);
    output = storage_.items[(static_cast<unsigned>(rank()) + distance) % threads];
  }
  // Each item's predecessor, or successor; the last thread's last item, or the first one's first.
  template <int Items>
  void Up(T (&input)[Items], T (&previous)[Items]) {
    share(input[Items - 1]);
    for (int i = Items - 1; i > 0; i--) previous[i] = input[i - 1];
    if (rank() > 0) previous[0] = storage_.items[rank() - 1];
  }
  template <int Items>
  void Up(T (&input)[Items], T (&previous)[Items], T& suffix) {
    Up(input, previous);
    suffix = storage_.items[threads - 1];
  }
  template <int Items>
  void Down(T (&input)[Items], T (&next)[Items]) {
    share(input[0]);
    for (int i = 0; i + 1 < Items; i++) next[i] = input[i + 1];
    if (rank() + 1 < threads) next[Items - 1] = storage_.items[rank() + 1];
  }
  template <int Items>
  void Down(T (&input)[Items], T (&next)[Items], T& prefix) {
    Down(input, next);
    prefix = storage_.items[0];
  }

 private:
  static int rank() { return static_cast<int>(WarpId() * 32 + LaneId()); }
  void share(const T& item) {
    storage_.items[rank()] = item;
    __syncthreads();
  }

  TempStorage& storage_;
};

}  // namespace cub
