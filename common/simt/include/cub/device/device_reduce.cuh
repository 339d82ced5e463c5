// cub::DeviceReduce.
#pragma once

#include <limits>

#include "run.cuh"

namespace cub {

template <typename Key, typename Value>
struct KeyValuePair {
  Key key;
  Value value;
};

struct DeviceReduce {
  template <typename In, typename Out, typename Count, typename Operation, typename T>
  static cudaError_t Reduce(void* storage, size_t& storage_bytes, In in, Out out, Count count, Operation operation,
                            T initial, cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceReduce::Reduce", storage, storage_bytes, in, out, count, operation, initial, stream);
  }
  template <typename In, typename Out, typename Count>
  static cudaError_t Sum(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                         cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceReduce::Sum", storage, storage_bytes, in, out, count, cub::Sum(), detail::ValueOf<In>(),
                  stream);
  }
  // Of nothing: the largest value of the type; its lowest for Max.
  template <typename In, typename Out, typename Count>
  static cudaError_t Min(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                         cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceReduce::Min", storage, storage_bytes, in, out, count, cub::Min(),
                  std::numeric_limits<detail::ValueOf<In>>::max(), stream);
  }
  template <typename In, typename Out, typename Count>
  static cudaError_t Max(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                         cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceReduce::Max", storage, storage_bytes, in, out, count, cub::Max(),
                  std::numeric_limits<detail::ValueOf<In>>::lowest(), stream);
  }
  template <typename In, typename Out, typename Count>
  static cudaError_t ArgMax(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                            cudaStream_t stream = nullptr) {
    return best("cub::DeviceReduce::ArgMax", storage, storage_bytes, in, out, count, ::cuda::std::greater<>(), stream);
  }
  template <typename In, typename Out, typename Count>
  static cudaError_t ArgMin(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                            cudaStream_t stream = nullptr) {
    return best("cub::DeviceReduce::ArgMin", storage, storage_bytes, in, out, count, ::cuda::std::less<>(), stream);
  }

 private:
  template <typename In, typename Out, typename Count, typename Operation, typename T>
  static cudaError_t reduce(const char* name, void* storage, size_t& storage_bytes, In in, Out out, Count count,
                            Operation operation, T initial, cudaStream_t stream) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, name,
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation combine = operation;
                                   T all = initial;
                                   for (Count i = 0; i < count; i++) all = static_cast<T>(combine(all, in[i]));
                                   *out = all;
                                 });
  }
  template <typename In, typename Out, typename Count, typename Better>
  static cudaError_t best(const char* name, void* storage, size_t& storage_bytes, In in, Out out, Count count,
                          Better better, cudaStream_t stream) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, name,
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   if (count <= 0) return;
                                   Count at = 0;
                                   for (Count i = 1; i < count; i++) {
                                     if (better(in[i], in[at])) at = i;
                                   }
                                   *out = {static_cast<int>(at), in[at]};
                                 });
  }
};

}  // namespace cub
