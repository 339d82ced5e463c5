// cub::DeviceReduce.
#pragma once

#include <limits>

#include "../key_value_pair.cuh"
#include "run.cuh"

namespace cub {

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
  // Of no items: the largest value of the type for Min, the lowest for Max.
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
  template <typename In, typename Out, typename Count, typename Operation, typename Transform, typename T>
  static cudaError_t TransformReduce(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                     Operation operation, Transform transform, T initial,
                                     cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceReduce::TransformReduce", storage, storage_bytes,
                  thrust::make_transform_iterator(in, transform), out, count, operation, initial, stream);
  }
  // One result per run of equal keys, with its key.
  template <typename Keys, typename Unique, typename In, typename Out, typename Number, typename Operation,
            typename Count>
  static cudaError_t ReduceByKey(void* storage, size_t& storage_bytes, Keys keys, Unique unique, In in, Out out,
                                 Number number, Operation operation, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceReduce::ReduceByKey",
                                 [=, keys = detail::bare(keys), unique = detail::bare(unique), in = detail::bare(in),
                                  out = detail::bare(out), number = detail::bare(number)](void*) {
                                   Operation combine = operation;
                                   Count runs = 0;
                                   for (Count first = 0, end = 0; first < count; first = end, runs++) {
                                     detail::ValueOf<In> all = in[first];
                                     for (end = first + 1; end < count && keys[end] == keys[first]; end++)
                                       all = static_cast<detail::ValueOf<In>>(combine(all, in[end]));
                                     unique[runs] = keys[first];
                                     out[runs] = all;
                                   }
                                   *number = runs;
                                 });
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
