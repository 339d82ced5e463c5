// cub::DeviceScan. The output may be the input, which then need not be named twice.
#pragma once

#include "run.cuh"

namespace cub {
namespace detail {

template <typename Count>
using IfCount = std::enable_if_t<std::is_integral<Count>::value || std::is_enum<Count>::value, int>;
struct Equals {
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return a == b;
  }
};
// The keys of a scan that has none: all are equal.
struct OneKey {
  template <typename Index>
  int operator[](Index) const {
    return 0;
  }
};

}  // namespace detail

struct DeviceScan {
  template <typename In, typename Out, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t InclusiveSum(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr) {
    return InclusiveScan(storage, storage_bytes, in, out, Sum(), count, stream);
  }
  template <typename It, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t InclusiveSum(void* storage, size_t& storage_bytes, It items, Count count,
                                  cudaStream_t stream = nullptr) {
    return InclusiveScan(storage, storage_bytes, items, items, Sum(), count, stream);
  }
  template <typename In, typename Out, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t ExclusiveSum(void* storage, size_t& storage_bytes, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveScan(storage, storage_bytes, in, out, Sum(), detail::ValueOf<In>(), count, stream);
  }
  template <typename It, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t ExclusiveSum(void* storage, size_t& storage_bytes, It items, Count count,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveSum(storage, storage_bytes, items, items, count, stream);
  }
  template <typename In, typename Out, typename Operation, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t InclusiveScan(void* storage, size_t& storage_bytes, In in, Out out, Operation operation,
                                   Count count, cudaStream_t stream = nullptr) {
    return inclusive(storage, storage_bytes, detail::OneKey(), in, out, operation, detail::Equals(), count, stream);
  }
  template <typename It, typename Operation, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t InclusiveScan(void* storage, size_t& storage_bytes, It items, Operation operation, Count count,
                                   cudaStream_t stream = nullptr) {
    return InclusiveScan(storage, storage_bytes, items, items, operation, count, stream);
  }
  template <typename In, typename Out, typename Operation, typename T, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t InclusiveScanInit(void* storage, size_t& storage_bytes, In in, Out out, Operation operation,
                                       T initial, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceScan::InclusiveScan",
                                 [=, in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation combine = operation;
                                   T all = initial;
                                   for (Count i = 0; i < count; i++) out[i] = all = static_cast<T>(combine(all, in[i]));
                                 });
  }
  template <typename In, typename Out, typename Operation, typename T, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t ExclusiveScan(void* storage, size_t& storage_bytes, In in, Out out, Operation operation, T initial,
                                   Count count, cudaStream_t stream = nullptr) {
    return exclusive(storage, storage_bytes, detail::OneKey(), in, out, operation, initial, detail::Equals(), count,
                     stream);
  }
  template <typename It, typename Operation, typename T, typename Count, detail::IfCount<Count> = 0>
  static cudaError_t ExclusiveScan(void* storage, size_t& storage_bytes, It items, Operation operation, T initial,
                                   Count count, cudaStream_t stream = nullptr) {
    return ExclusiveScan(storage, storage_bytes, items, items, operation, initial, count, stream);
  }

  // Each run of equal keys by itself.
  template <typename Keys, typename In, typename Out, typename Count, typename Equal = detail::Equals,
            detail::IfCount<Count> = 0>
  static cudaError_t InclusiveSumByKey(void* storage, size_t& storage_bytes, Keys keys, In in, Out out, Count count,
                                       Equal equal = {}, cudaStream_t stream = nullptr) {
    return inclusive(storage, storage_bytes, keys, in, out, Sum(), equal, count, stream);
  }
  template <typename Keys, typename In, typename Out, typename Count, typename Equal = detail::Equals,
            detail::IfCount<Count> = 0>
  static cudaError_t ExclusiveSumByKey(void* storage, size_t& storage_bytes, Keys keys, In in, Out out, Count count,
                                       Equal equal = {}, cudaStream_t stream = nullptr) {
    return exclusive(storage, storage_bytes, keys, in, out, Sum(), detail::ValueOf<In>(), equal, count, stream);
  }
  template <typename Keys, typename In, typename Out, typename Operation, typename Count,
            typename Equal = detail::Equals, detail::IfCount<Count> = 0>
  static cudaError_t InclusiveScanByKey(void* storage, size_t& storage_bytes, Keys keys, In in, Out out,
                                        Operation operation, Count count, Equal equal = {},
                                        cudaStream_t stream = nullptr) {
    return inclusive(storage, storage_bytes, keys, in, out, operation, equal, count, stream);
  }
  template <typename Keys, typename In, typename Out, typename Operation, typename T, typename Count,
            typename Equal = detail::Equals, detail::IfCount<Count> = 0>
  static cudaError_t ExclusiveScanByKey(void* storage, size_t& storage_bytes, Keys keys, In in, Out out,
                                        Operation operation, T initial, Count count, Equal equal = {},
                                        cudaStream_t stream = nullptr) {
    return exclusive(storage, storage_bytes, keys, in, out, operation, initial, equal, count, stream);
  }

 private:
  template <typename Keys, typename In, typename Out, typename Operation, typename Equal, typename Count>
  static cudaError_t inclusive(void* storage, size_t& storage_bytes, Keys keys, In in, Out out, Operation operation,
                               Equal equal, Count count, cudaStream_t stream) {
    using T = detail::ValueOf<In>;
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceScan::InclusiveScan",
                                 [=, keys = detail::bare(keys), in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation combine = operation;
                                   Equal same = equal;
                                   if (count <= 0) return;
                                   T all = in[0];
                                   out[0] = all;
                                   for (Count i = 1; i < count; i++) {
                                     const T own = in[i];
                                     all = same(keys[i - 1], keys[i]) ? static_cast<T>(combine(all, own)) : own;
                                     out[i] = all;
                                   }
                                 });
  }
  template <typename Keys, typename In, typename Out, typename Operation, typename T, typename Equal, typename Count>
  static cudaError_t exclusive(void* storage, size_t& storage_bytes, Keys keys, In in, Out out, Operation operation,
                               T initial, Equal equal, Count count, cudaStream_t stream) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceScan::ExclusiveScan",
                                 [=, keys = detail::bare(keys), in = detail::bare(in), out = detail::bare(out)](void*) {
                                   Operation combine = operation;
                                   Equal same = equal;
                                   T all = initial;
                                   for (Count i = 0; i < count; i++) {
                                     const T before = i == 0 || same(keys[i - 1], keys[i]) ? all : initial;
                                     all = static_cast<T>(combine(before, in[i]));
                                     out[i] = before;
                                   }
                                 });
  }
};

}  // namespace cub
