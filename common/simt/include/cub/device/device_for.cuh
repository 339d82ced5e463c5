// cub::DeviceFor: a function of each number, or of each item.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceFor {
  template <typename Count, typename Operation>
  static cudaError_t Bulk(Count count, Operation operation, cudaStream_t stream = nullptr) {
    return thrust::detail::launch(stream, "cub::DeviceFor::Bulk", [=] {
      Operation own = operation;
      for (Count i = 0; i < count; i++) own(i);
    });
  }
  template <typename It, typename Count, typename Operation>
  static cudaError_t ForEachN(It first, Count count, Operation operation, cudaStream_t stream = nullptr) {
    return thrust::detail::launch(stream, "cub::DeviceFor::ForEachN", [=, items = detail::bare(first)] {
      Operation own = operation;
      for (Count i = 0; i < count; i++) own(items[i]);
    });
  }
  template <typename It, typename Operation>
  static cudaError_t ForEach(It first, It last, Operation operation, cudaStream_t stream = nullptr) {
    return ForEachN(first, last - first, operation, stream);
  }
  // The function gets a copy of each item.
  template <typename It, typename Count, typename Operation>
  static cudaError_t ForEachCopyN(It first, Count count, Operation operation, cudaStream_t stream = nullptr) {
    return thrust::detail::launch(stream, "cub::DeviceFor::ForEachCopyN", [=, items = detail::bare(first)] {
      Operation own = operation;
      for (Count i = 0; i < count; i++) {
        detail::ValueOf<It> item = items[i];
        own(item);
      }
    });
  }
  template <typename It, typename Operation>
  static cudaError_t ForEachCopy(It first, It last, Operation operation, cudaStream_t stream = nullptr) {
    return ForEachCopyN(first, last - first, operation, stream);
  }

// In two phases, as CUB's other algorithms. No temporary memory is used.
#define SIMT_TWO_PHASES(name)                                                        \
  template <typename... Arguments>                                                   \
  static cudaError_t name(void* storage, size_t& storage_bytes, Arguments... rest) { \
    if (!storage) return storage_bytes = 1, cudaSuccess;                             \
    return name(rest...);                                                            \
  }
  SIMT_TWO_PHASES(Bulk)
  SIMT_TWO_PHASES(ForEachN)
  SIMT_TWO_PHASES(ForEach)
  SIMT_TWO_PHASES(ForEachCopyN)
  SIMT_TWO_PHASES(ForEachCopy)
#undef SIMT_TWO_PHASES
};

}  // namespace cub
