// cub::BlockAdjacentDifference: of each item and its neighbour in the block.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

// Thread t has items t * Items + i. An item without a neighbour stays as it is. Between two uses of one TempStorage the
// program needs a __syncthreads().
template <typename T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockAdjacentDifference {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;

 public:
  struct TempStorage {
    detail::Slots<T, threads> edges;
  };
  explicit BlockAdjacentDifference(TempStorage& storage) : storage_(storage) {}

  template <int Items, typename Out, typename Operation>
  void SubtractLeft(T (&input)[Items], Out (&output)[Items], Operation operation) {
    left<Items>(input, output, operation, nullptr, threads * Items);
  }
  template <int Items, typename Out, typename Operation>
  void SubtractLeft(T (&input)[Items], Out (&output)[Items], Operation operation, T predecessor) {
    left<Items>(input, output, operation, &predecessor, threads * Items);
  }
  template <int Items, typename Out, typename Operation>
  void SubtractLeftPartialTile(T (&input)[Items], Out (&output)[Items], Operation operation, int valid) {
    left<Items>(input, output, operation, nullptr, valid);
  }
  template <int Items, typename Out, typename Operation>
  void SubtractLeftPartialTile(T (&input)[Items], Out (&output)[Items], Operation operation, int valid, T predecessor) {
    left<Items>(input, output, operation, &predecessor, valid);
  }
  template <int Items, typename Out, typename Operation>
  void SubtractRight(T (&input)[Items], Out (&output)[Items], Operation operation) {
    right<Items>(input, output, operation, nullptr, threads * Items);
  }
  template <int Items, typename Out, typename Operation>
  void SubtractRight(T (&input)[Items], Out (&output)[Items], Operation operation, T successor) {
    right<Items>(input, output, operation, &successor, threads * Items);
  }
  template <int Items, typename Out, typename Operation>
  void SubtractRightPartialTile(T (&input)[Items], Out (&output)[Items], Operation operation, int valid) {
    right<Items>(input, output, operation, nullptr, valid);
  }

 private:
  static int rank() { return static_cast<int>(WarpId() * 32 + LaneId()); }

  template <int Items, typename Out, typename Operation>
  void left(const T* input, Out* output, Operation operation, const T* predecessor, int valid) {
    storage_.edges[rank()] = input[Items - 1];
    __syncthreads();
    for (int i = Items - 1; i >= 0; i--) {  // output may be input
      const bool is_first = rank() == 0 && i == 0;
      if (rank() * Items + i >= valid || (is_first && !predecessor))
        output[i] = input[i];
      else
        output[i] = operation(input[i], i > 0 ? input[i - 1] : is_first ? *predecessor : storage_.edges[rank() - 1]);
    }
  }
  template <int Items, typename Out, typename Operation>
  void right(const T* input, Out* output, Operation operation, const T* successor, int valid) {
    storage_.edges[rank()] = input[0];
    __syncthreads();
    for (int i = 0; i < Items; i++) {
      const int index = rank() * Items + i;
      const bool is_last = index == threads * Items - 1;
      if (index >= valid || (index == valid - 1 && !(is_last && successor)))
        output[i] = input[i];
      else
        output[i] = operation(input[i], is_last         ? *successor
                                        : i + 1 < Items ? input[i + 1]
                                                        : storage_.edges[rank() + 1]);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
