// cub::BlockMergeSort and cub::WarpMergeSort: runs of twice the length in each round; a binary search in the
// neighbouring run finds an item's place.
#pragma once

#include "../device/device_radix_sort.cuh"
#include "../warp/shuffles.cuh"

namespace cub {

namespace detail {

// Of `threads` threads, of which this is `rank`; Barrier is what makes them wait for each other.
template <typename Key, int threads, int Items, typename Value, typename Barrier>
class MergeSort {
  static constexpr int all = threads * Items;
  static constexpr bool has_values = !std::is_same<Value, NullType>::value;

 public:
  struct TempStorage {
    Slots<Key, all> keys;
    Slots<Value, all> values;
  };
  MergeSort(TempStorage& storage, int rank) : storage_(storage), rank_(rank) {}

  template <typename Less>
  void Sort(Key (&keys)[Items], Less less) {
    sort(keys, static_cast<Value*>(nullptr), less);
  }
  template <typename Less>
  void Sort(Key (&keys)[Items], Value (&values)[Items], Less less) {
    sort(keys, values, less);
  }
  // Of the first `valid` items: the others become `beyond`, which no key may come after.
  template <typename Less>
  void Sort(Key (&keys)[Items], Less less, int valid, Key beyond) {
    replace(keys, valid, beyond);
    sort(keys, static_cast<Value*>(nullptr), less);
  }
  template <typename Less>
  void Sort(Key (&keys)[Items], Value (&values)[Items], Less less, int valid, Key beyond) {
    replace(keys, valid, beyond);
    sort(keys, values, less);
  }
  template <typename... Arguments>
  void StableSort(Arguments&&... arguments) {
    Sort(arguments...);
  }

 private:
  void replace(Key (&keys)[Items], int valid, const Key& beyond) {
    for (int k = 0; k < Items; k++)
      if (rank_ * Items + k >= valid) keys[k] = beyond;
  }

  template <typename Less>
  void sort(Key (&keys)[Items], Value* values, Less less) {
    for (int k = 0; k < Items; k++) storage_.keys[rank_ * Items + k] = keys[k];
    if (has_values && values)
      for (int k = 0; k < Items; k++) storage_.values[rank_ * Items + k] = values[k];
    for (int run = 1; run < all; run *= 2) {
      Barrier::wait();
      int places[Items];
      for (int k = 0; k < Items; k++) {
        const int index = rank_ * Items + k;
        keys[k] = storage_.keys[index];
        if (has_values && values) values[k] = storage_.values[index];
        places[k] = place(keys[k], index, run, less);
      }
      Barrier::wait();
      for (int k = 0; k < Items; k++) {
        storage_.keys[places[k]] = keys[k];
        if (has_values && values) storage_.values[places[k]] = values[k];
      }
    }
    Barrier::wait();
    for (int k = 0; k < Items; k++) keys[k] = storage_.keys[rank_ * Items + k];
    if (has_values && values)
      for (int k = 0; k < Items; k++) values[k] = storage_.values[rank_ * Items + k];
  }

  // After two neighbouring runs have become one. Of equal keys those of the first run come first.
  template <typename Less>
  int place(const Key& key, int index, int run, Less less) const {
    const bool in_first = index / run % 2 == 0;
    const int own = index / run * run, other = in_first ? own + run : own - run;
    int low = other < all ? other : all, high = other + run < all ? other + run : all;
    const int begin = low;
    while (low < high) {
      const int middle = (low + high) / 2;
      const bool before = in_first ? less(storage_.keys[middle], key) : !less(key, storage_.keys[middle]);
      (before ? low : high) = before ? middle + 1 : middle;
    }
    return (in_first ? own : other) + (index - own) + (low - begin);
  }

  TempStorage& storage_;
  const int rank_;
};

struct BlockBarrier {
  static void wait() { __syncthreads(); }
};
template <int threads>
struct LanesBarrier {
  static void wait() { __syncwarp(lanes(threads, threads)); }
};

}  // namespace detail

// Thread t has items t * Items + k, before and after. Between two uses of one TempStorage the program needs a
// __syncthreads(), or __syncwarp().
template <typename Key, int BlockDimX, int Items, typename Value = NullType, int BlockDimY = 1, int BlockDimZ = 1>
class BlockMergeSort
    : public detail::MergeSort<Key, BlockDimX * BlockDimY * BlockDimZ, Items, Value, detail::BlockBarrier> {
  using Base = detail::MergeSort<Key, BlockDimX * BlockDimY * BlockDimZ, Items, Value, detail::BlockBarrier>;

 public:
  explicit BlockMergeSort(typename Base::TempStorage& storage)
      : Base(storage, static_cast<int>(WarpId() * 32 + LaneId())) {}
};

template <typename Key, int Items, int Threads = 32, typename Value = NullType>
class WarpMergeSort : public detail::MergeSort<Key, Threads, Items, Value, detail::LanesBarrier<Threads>> {
  using Base = detail::MergeSort<Key, Threads, Items, Value, detail::LanesBarrier<Threads>>;

 public:
  explicit WarpMergeSort(typename Base::TempStorage& storage) : Base(storage, static_cast<int>(LaneId()) % Threads) {}
};

}  // namespace cub
