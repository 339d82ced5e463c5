// cub::BlockScan: shuffles within each warp, shared memory and one barrier between them; a second one for a callback.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

// A thread has one item or an array of Items that follow one another. Between two uses of one TempStorage the program
// needs a __syncthreads().
template <typename T, int BlockDimX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int BlockDimY = 1, int BlockDimZ = 1>
class BlockScan {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    detail::Slots<T, warps> totals;
    detail::Slots<T, 1> prefix;
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  // block_aggregate does not include the initial value. In its place there may be a functor with a T operator()(T
  // block_aggregate), which the first warp calls: lane 0's return value is placed before all items.
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    T all;
    InclusiveScan(input, output, operation, all);
  }
  template <typename Operation, typename AggregateOrCallback>
  void InclusiveScan(T input, T& output, Operation operation, AggregateOrCallback& last) {
    inclusive(&input, &output, 1, operation, last);
  }
  template <int Items, typename Operation>
  void InclusiveScan(T (&input)[Items], T (&output)[Items], Operation operation) {
    T all;
    InclusiveScan(input, output, operation, all);
  }
  template <int Items, typename Operation, typename AggregateOrCallback>
  void InclusiveScan(T (&input)[Items], T (&output)[Items], Operation operation, AggregateOrCallback& last) {
    inclusive(input, output, Items, operation, last);
  }

  // Without an initial value the first output of thread 0 is undefined.
  template <typename Operation>
  void ExclusiveScan(T input, T& output, Operation operation) {
    T all;
    exclusive(&input, &output, 1, nullptr, operation, all);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial_value, Operation operation) {
    T all;
    ExclusiveScan(input, output, initial_value, operation, all);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial_value, Operation operation, T& block_aggregate) {
    exclusive(&input, &output, 1, &initial_value, operation, block_aggregate);
  }
  template <typename Operation, typename Callback>
  auto ExclusiveScan(T input, T& output, Operation operation, Callback& callback)
      -> decltype(static_cast<void>(operation(input, input)), static_cast<void>(callback(input))) {
    exclusive(&input, &output, 1, nullptr, operation, callback);
  }
  template <int Items, typename Operation>
  void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial_value, Operation operation) {
    T all;
    ExclusiveScan(input, output, initial_value, operation, all);
  }
  template <int Items, typename Operation>
  void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial_value, Operation operation, T& block_aggregate) {
    exclusive(input, output, Items, &initial_value, operation, block_aggregate);
  }
  template <int Items, typename Operation, typename Callback>
  auto ExclusiveScan(T (&input)[Items], T (&output)[Items], Operation operation, Callback& callback)
      -> decltype(static_cast<void>(operation(input[0], input[0])), static_cast<void>(callback(input[0]))) {
    exclusive(input, output, Items, nullptr, operation, callback);
  }

  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, Plus()); }
  template <typename AggregateOrCallback>
  void InclusiveSum(T input, T& output, AggregateOrCallback& last) {
    InclusiveScan(input, output, Plus(), last);
  }
  template <int Items>
  void InclusiveSum(T (&input)[Items], T (&output)[Items]) {
    InclusiveScan(input, output, Plus());
  }
  template <int Items, typename AggregateOrCallback>
  void InclusiveSum(T (&input)[Items], T (&output)[Items], AggregateOrCallback& last) {
    InclusiveScan(input, output, Plus(), last);
  }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), Plus()); }
  template <typename AggregateOrCallback>
  void ExclusiveSum(T input, T& output, AggregateOrCallback& last) {
    const T zero = T();
    exclusive(&input, &output, 1, &zero, Plus(), last);
  }
  template <int Items>
  void ExclusiveSum(T (&input)[Items], T (&output)[Items]) {
    ExclusiveScan(input, output, T(), Plus());
  }
  template <int Items, typename AggregateOrCallback>
  void ExclusiveSum(T (&input)[Items], T (&output)[Items], AggregateOrCallback& last) {
    const T zero = T();
    exclusive(input, output, Items, &zero, Plus(), last);
  }

 private:
  using Plus = cub::Sum;
  struct Before {
    T value{}, all{};    // of the items before the thread's own, of the block
    bool there = false;  // there are such items
  };

  template <typename Operation, typename AggregateOrCallback>
  void inclusive(const T* input, T* output, int items, Operation operation, AggregateOrCallback& last) {
    const Before before = look_back(input, items, operation, nullptr, last);
    T running = before.there ? operation(before.value, input[0]) : input[0];
    output[0] = running;
    for (int i = 1; i < items; i++) output[i] = running = operation(running, input[i]);
  }

  template <typename Operation, typename AggregateOrCallback>
  void exclusive(const T* input, T* output, int items, const T* initial, Operation operation,
                 AggregateOrCallback& last) {
    const Before before = look_back(input, items, operation, initial, last);
    T running = before.value;
    bool there = before.there;
    for (int i = 0; i < items; i++) {
      const T item = input[i];  // output may be input
      output[i] = running;
      running = there ? operation(running, item) : item;
      there = true;
    }
  }

  // What comes before the thread's items, with the initial value or what the callback gives.
  template <typename Operation, typename AggregateOrCallback>
  Before look_back(const T* input, int items, Operation operation, const T* initial, AggregateOrCallback& last) {
    T own = input[0];
    for (int i = 1; i < items; i++) own = operation(own, input[i]);
    Before before = of_earlier_threads(own, operation);
    T first{};
    bool has_first = initial != nullptr;
    if constexpr (std::is_same<AggregateOrCallback, T>::value) {
      if (initial) first = *initial;
      last = before.all;
    } else {
      if (WarpId() == 0) {
        const T prefix = last(before.all);
        if (LaneId() == 0) storage_.prefix[0] = prefix;
      }
      __syncthreads();
      first = storage_.prefix[0];
      has_first = true;
    }
    if (has_first) {
      before.value = before.there ? operation(first, before.value) : first;
      before.there = true;
    }
    return before;
  }

  template <typename Operation>
  Before of_earlier_threads(const T& own, Operation operation) {
    const int warp = static_cast<int>(WarpId()), lane = static_cast<int>(LaneId());
    const int left = threads - warp * 32, present = left < 32 ? left : 32;
    const T up_to_here = detail::scan_lanes(own, operation, present, 32);
    if (lane == present - 1) storage_.totals[warp] = up_to_here;
    const T below = detail::from_below(detail::lanes(present, 32), up_to_here, 1, 32);
    __syncthreads();
    Before before;
    before.all = storage_.totals[0];
    for (int i = 1; i < warps; i++) {
      if (i == warp) before.value = before.all;
      before.all = operation(before.all, storage_.totals[i]);
    }
    before.there = warp > 0;
    if (lane > 0) {
      before.value = before.there ? operation(before.value, below) : below;
      before.there = true;
    }
    return before;
  }

  TempStorage& storage_;
};

}  // namespace cub
