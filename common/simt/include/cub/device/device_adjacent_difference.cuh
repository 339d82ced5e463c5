// cub::DeviceAdjacentDifference: each item and its neighbour. The first item of Left, the last of Right, stays as it
// is.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceAdjacentDifference {
  template <typename In, typename Out, typename Count, typename Operation = ::cuda::std::minus<>>
  static cudaError_t SubtractLeftCopy(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                      Operation operation = {}, cudaStream_t stream = nullptr) {
    return left("cub::DeviceAdjacentDifference::SubtractLeftCopy", storage, storage_bytes, in, out, count, operation,
                stream);
  }
  template <typename It, typename Count, typename Operation = ::cuda::std::minus<>>
  static cudaError_t SubtractLeft(void* storage, size_t& storage_bytes, It items, Count count, Operation operation = {},
                                  cudaStream_t stream = nullptr) {
    return left("cub::DeviceAdjacentDifference::SubtractLeft", storage, storage_bytes, items, items, count, operation,
                stream);
  }
  template <typename In, typename Out, typename Count, typename Operation = ::cuda::std::minus<>>
  static cudaError_t SubtractRightCopy(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                       Operation operation = {}, cudaStream_t stream = nullptr) {
    return right("cub::DeviceAdjacentDifference::SubtractRightCopy", storage, storage_bytes, in, out, count, operation,
                 stream);
  }
  template <typename It, typename Count, typename Operation = ::cuda::std::minus<>>
  static cudaError_t SubtractRight(void* storage, size_t& storage_bytes, It items, Count count,
                                   Operation operation = {}, cudaStream_t stream = nullptr) {
    return right("cub::DeviceAdjacentDifference::SubtractRight", storage, storage_bytes, items, items, count, operation,
                 stream);
  }

 private:
  // From the end, so that the items may be the result's place.
  template <typename In, typename Out, typename Count, typename Operation>
  static cudaError_t left(const char* name, void* storage, size_t& storage_bytes, In in, Out out, Count count,
                          Operation operation, cudaStream_t stream) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, name,
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation own = operation;
                                   for (Count i = count; i-- > 1;) out[i] = own(in[i], in[i - 1]);
                                   if (count > 0) out[0] = in[0];
                                 });
  }
  template <typename In, typename Out, typename Count, typename Operation>
  static cudaError_t right(const char* name, void* storage, size_t& storage_bytes, In in, Out out, Count count,
                           Operation operation, cudaStream_t stream) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, name,
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation own = operation;
                                   for (Count i = 0; i + 1 < count; i++) out[i] = own(in[i], in[i + 1]);
                                   if (count > 0) out[count - 1] = in[count - 1];
                                 });
  }
};

}  // namespace cub
