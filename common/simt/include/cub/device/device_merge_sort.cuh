// cub::DeviceMergeSort: by a comparison of the program's own, stable, in place or into other arrays.
#pragma once

#include "device_radix_sort.cuh"

namespace cub {

struct DeviceMergeSort {
#define SIMT_MERGE_SORT(name)                                                                                   \
  template <typename Keys, typename Items, typename Count, typename Less>                                       \
  static cudaError_t name##Pairs(void* storage, size_t& bytes, Keys keys, Items items, Count count, Less below, \
                                 cudaStream_t stream = nullptr) {                                               \
    return sort(storage, bytes, keys, keys, items, items, count, below, stream);                                \
  }                                                                                                             \
  template <typename Keys, typename Count, typename Less>                                                       \
  static cudaError_t name##Keys(void* storage, size_t& bytes, Keys keys, Count count, Less below,               \
                                cudaStream_t stream = nullptr) {                                                \
    NullType* const none = nullptr;                                                                             \
    return sort(storage, bytes, keys, keys, none, none, count, below, stream);                                  \
  }
  SIMT_MERGE_SORT(Sort)
  SIMT_MERGE_SORT(StableSort)
#undef SIMT_MERGE_SORT
  template <typename In, typename ItemsIn, typename Out, typename ItemsOut, typename Count, typename Less>
  static cudaError_t SortPairsCopy(void* storage, size_t& bytes, In in, ItemsIn items_in, Out out, ItemsOut items_out,
                                   Count count, Less below, cudaStream_t stream = nullptr) {
    return sort(storage, bytes, in, out, items_in, items_out, count, below, stream);
  }
  template <typename In, typename Out, typename Count, typename Less>
  static cudaError_t SortKeysCopy(void* storage, size_t& bytes, In in, Out out, Count count, Less below,
                                  cudaStream_t stream = nullptr) {
    NullType* const none = nullptr;
    return sort(storage, bytes, in, out, none, none, count, below, stream);
  }

 private:
  template <typename In, typename Out, typename ItemsIn, typename ItemsOut, typename Count, typename Less>
  static cudaError_t sort(void* storage, size_t& bytes, In in, Out out, ItemsIn items_in, ItemsOut items_out,
                          Count count, Less below, cudaStream_t stream) {
    using Key = detail::ValueOf<In>;
    using Item = detail::ValueOf<ItemsIn>;
    return detail::in_two_phases(storage, bytes, detail::sort_bytes<Key, Item>(static_cast<size_t>(count)), stream,
                                 "cub::DeviceMergeSort",
                                 [=, in = detail::bare(in), out = detail::bare(out), items_in = detail::bare(items_in),
                                  items_out = detail::bare(items_out)](unsigned char* memory) {
                                   detail::sort_range(memory, in, out, items_in, items_out, Count{}, count, below);
                                 });
  }
};

}  // namespace cub
