// cub::DeviceMemcpy: many copies at once, of so many bytes each.
#pragma once

#include "device_copy.cuh"

namespace cub {

struct DeviceMemcpy {
  template <typename In, typename Out, typename Sizes, typename Count>
  static cudaError_t Batched(void* storage, size_t& storage_bytes, In inputs, Out outputs, Sizes sizes_of, Count count,
                             cudaStream_t stream = nullptr) {
    return detail::copy_batches(storage, storage_bytes, inputs, outputs, sizes_of, count, stream,
                                "cub::DeviceMemcpy::Batched", Bytes());
  }

 private:
  struct Bytes {
    auto operator()(const void* items) const { return static_cast<const unsigned char*>(items); }
    auto operator()(void* items) const { return static_cast<unsigned char*>(items); }
  };
};

}  // namespace cub
