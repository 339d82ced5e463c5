// cub::BlockReduce: shuffles within each warp, shared memory and one barrier between them.
#pragma once

#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

// The result is in thread 0; in the others it is undefined. Every algorithm keeps the order of the items.
// Between two uses of one TempStorage the program needs a __syncthreads().
template <typename T, int BlockDimX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockReduce {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    detail::Slots<T, warps> partial;
  };
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  // Reduces the items of the first num_valid threads.
  template <typename Operation>
  T Reduce(T input, Operation operation, int num_valid) {
    const int warp = static_cast<int>(WarpId()), before = warp * 32;
    const int present = threads - before < 32 ? threads - before : 32;
    const T own = detail::reduce_lanes(input, operation, num_valid - before, present, 32);
    if (LaneId() == 0) storage_.partial[warp] = own;
    __syncthreads();
    T total = own;
    if (before == 0 && LaneId() == 0) {
      for (int i = 1; i < warps && i * 32 < num_valid; i++) total = operation(total, storage_.partial[i]);
    }
    return total;
  }
  template <typename Operation>
  T Reduce(T input, Operation operation) {
    return Reduce(input, operation, threads);
  }
  template <int Items, typename Operation>
  T Reduce(T (&inputs)[Items], Operation operation) {
    T own = inputs[0];
    for (int i = 1; i < Items; i++) own = operation(own, inputs[i]);
    return Reduce(own, operation, threads);
  }
  T Sum(T input) { return Reduce(input, cub::Sum(), threads); }
  T Sum(T input, int num_valid) { return Reduce(input, cub::Sum(), num_valid); }
  template <int Items>
  T Sum(T (&inputs)[Items]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
