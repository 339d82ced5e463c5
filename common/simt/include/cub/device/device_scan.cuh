// cub::DeviceScan. The output may be the input.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceScan {
  template <typename In, typename Out, typename Count>
  static cudaError_t InclusiveSum(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr) {
    return InclusiveScan(storage, storage_bytes, in, out, Sum(), count, stream);
  }
  template <typename In, typename Out, typename Count>
  static cudaError_t ExclusiveSum(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveScan(storage, storage_bytes, in, out, Sum(), detail::ValueOf<In>(), count, stream);
  }
  template <typename In, typename Out, typename Operation, typename Count>
  static cudaError_t InclusiveScan(void* storage, size_t& storage_bytes, In in, Out out, Operation operation,
                                   Count count, cudaStream_t stream = nullptr) {
    using T = detail::ValueOf<In>;
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceScan::InclusiveScan",
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation combine = operation;
                                   if (count <= 0) return;
                                   T all = in[0];
                                   out[0] = all;
                                   for (Count i = 1; i < count; i++) out[i] = all = static_cast<T>(combine(all, in[i]));
                                 });
  }
  template <typename In, typename Out, typename Operation, typename T, typename Count>
  static cudaError_t ExclusiveScan(void* storage, size_t& storage_bytes, In in, Out out, Operation operation, T initial,
                                   Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceScan::ExclusiveScan",
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation combine = operation;
                                   T all = initial;
                                   for (Count i = 0; i < count; i++) {
                                     const T before = all;
                                     all = static_cast<T>(combine(before, in[i]));
                                     out[i] = before;
                                   }
                                 });
  }
};

}  // namespace cub
