// cub::DeviceCopy: many copies at once, of so many items each.
#pragma once

#include "run.cuh"

namespace cub {
namespace detail {

// items_of: of what an iterator has, the pointer or iterator to what is copied one by one.
template <typename In, typename Out, typename Sizes, typename Count, typename ItemsOf>
cudaError_t copy_batches(void* storage, size_t& storage_bytes, In inputs, Out outputs, Sizes sizes_of, Count count,
                         cudaStream_t stream, const char* name, ItemsOf items_of) {
  return in_two_phases(storage, storage_bytes, 1, stream, name,
                       [=, in = bare(inputs), out = bare(outputs), sizes = bare(sizes_of)](void*) {
                         for (Count i = 0; i < count; i++) {
                           const auto from = items_of(in[i]);
                           const auto to = items_of(out[i]);
                           for (size_t k = 0; k < static_cast<size_t>(sizes[i]); k++) to[k] = from[k];
                         }
                       });
}

}  // namespace detail

struct DeviceCopy {
  template <typename In, typename Out, typename Sizes, typename Count>
  static cudaError_t Batched(void* storage, size_t& storage_bytes, In inputs, Out outputs, Sizes sizes_of, Count count,
                             cudaStream_t stream = nullptr) {
    return detail::copy_batches(storage, storage_bytes, inputs, outputs, sizes_of, count, stream,
                                "cub::DeviceCopy::Batched", [](auto items) { return items; });
  }
};

}  // namespace cub
