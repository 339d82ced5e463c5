// cub::DeviceSegmentedReduce: one result per segment, from begins[s] up to ends[s].
#pragma once

#include <limits>

#include "device_reduce.cuh"

namespace cub {

struct DeviceSegmentedReduce {
  template <typename In, typename Out, typename Begins, typename Ends, typename Operation, typename T>
  static cudaError_t Reduce(void* storage, size_t& storage_bytes, In in, Out out, int segments, Begins begins,
                            Ends ends, Operation operation, T initial, cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceSegmentedReduce::Reduce", storage, storage_bytes, in, out, segments, begins, ends,
                  operation, initial, stream);
  }
  template <typename In, typename Out, typename Begins, typename Ends>
  static cudaError_t Sum(void* storage, size_t& storage_bytes, In in, Out out, int segments, Begins begins, Ends ends,
                         cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceSegmentedReduce::Sum", storage, storage_bytes, in, out, segments, begins, ends,
                  cub::Sum(), detail::ValueOf<In>(), stream);
  }
  template <typename In, typename Out, typename Begins, typename Ends>
  static cudaError_t Min(void* storage, size_t& storage_bytes, In in, Out out, int segments, Begins begins, Ends ends,
                         cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceSegmentedReduce::Min", storage, storage_bytes, in, out, segments, begins, ends,
                  cub::Min(), std::numeric_limits<detail::ValueOf<In>>::max(), stream);
  }
  template <typename In, typename Out, typename Begins, typename Ends>
  static cudaError_t Max(void* storage, size_t& storage_bytes, In in, Out out, int segments, Begins begins, Ends ends,
                         cudaStream_t stream = nullptr) {
    return reduce("cub::DeviceSegmentedReduce::Max", storage, storage_bytes, in, out, segments, begins, ends,
                  cub::Max(), std::numeric_limits<detail::ValueOf<In>>::lowest(), stream);
  }
  // The offset counts from the segment's beginning. An empty segment gives (1, the value that loses against all
  // others).
  template <typename In, typename Out, typename Begins, typename Ends>
  static cudaError_t ArgMin(void* storage, size_t& storage_bytes, In in, Out out, int segments, Begins begins,
                            Ends ends, cudaStream_t stream = nullptr) {
    return best("cub::DeviceSegmentedReduce::ArgMin", storage, storage_bytes, in, out, segments, begins, ends,
                ::cuda::std::less<>(), std::numeric_limits<detail::ValueOf<In>>::max(), stream);
  }
  template <typename In, typename Out, typename Begins, typename Ends>
  static cudaError_t ArgMax(void* storage, size_t& storage_bytes, In in, Out out, int segments, Begins begins,
                            Ends ends, cudaStream_t stream = nullptr) {
    return best("cub::DeviceSegmentedReduce::ArgMax", storage, storage_bytes, in, out, segments, begins, ends,
                ::cuda::std::greater<>(), std::numeric_limits<detail::ValueOf<In>>::lowest(), stream);
  }

 private:
  // out[s] = of_segment(in, first, last) for each segment s.
  template <typename In, typename Out, typename Begins, typename Ends, typename OfSegment>
  static cudaError_t over_segments(const char* name, void* storage, size_t& storage_bytes, In in, Out out, int segments,
                                   Begins begins, Ends ends, cudaStream_t stream, OfSegment of_segment) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, name,
                                 [=, in = detail::bare(in), out = detail::bare(out), begins = detail::bare(begins),
                                  ends = detail::bare(ends)](void*) {
                                   for (int s = 0; s < segments; s++) out[s] = of_segment(in, begins[s], ends[s]);
                                 });
  }
  template <typename In, typename Out, typename Begins, typename Ends, typename Operation, typename T>
  static cudaError_t reduce(const char* name, void* storage, size_t& storage_bytes, In in, Out out, int segments,
                            Begins begins, Ends ends, Operation operation, T initial, cudaStream_t stream) {
    return over_segments(name, storage, storage_bytes, in, out, segments, begins, ends, stream,
                         [=](const auto& items, auto first, auto last) {
                           Operation combine = operation;
                           T all = initial;
                           for (auto i = first; i < last; i++) all = static_cast<T>(combine(all, items[i]));
                           return all;
                         });
  }
  template <typename In, typename Out, typename Begins, typename Ends, typename Better, typename T>
  static cudaError_t best(const char* name, void* storage, size_t& storage_bytes, In in, Out out, int segments,
                          Begins begins, Ends ends, Better better, T worst, cudaStream_t stream) {
    return over_segments(name, storage, storage_bytes, in, out, segments, begins, ends, stream,
                         [=](const auto& items, auto first, auto last) -> KeyValuePair<int, T> {
                           if (first >= last) return {1, worst};
                           auto at = first;
                           for (auto i = first; i < last; i++) {
                             if (better(items[i], items[at])) at = i;
                           }
                           return {static_cast<int>(at - first), items[at]};
                         });
  }
};

}  // namespace cub
