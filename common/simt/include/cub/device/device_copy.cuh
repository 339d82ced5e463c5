// cub::DeviceCopy: many copies at once, of so many items each.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceCopy {
  template <typename In, typename Out, typename Sizes, typename Count>
  static cudaError_t Batched(void* storage, size_t& storage_bytes, In inputs, Out outputs, Sizes sizes_of, Count count,
                             cudaStream_t stream = nullptr) {
    return detail::in_two_phases(
        storage, storage_bytes, 1, stream, "cub::DeviceCopy::Batched",
        [=, in = detail::bare(inputs), out = detail::bare(outputs), sizes = detail::bare(sizes_of)](void*) {
          for (Count i = 0; i < count; i++) {
            const auto from = in[i];
            const auto to = out[i];
            for (size_t k = 0; k < static_cast<size_t>(sizes[i]); k++) to[k] = from[k];
          }
        });
  }
};

}  // namespace cub
