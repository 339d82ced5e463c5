// cub::DeviceHistogram of one channel.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceHistogram {
  // levels - 1 bins of equal width, from lower to upper. upper itself is in none of them.
  template <typename In, typename Counter, typename Level, typename Count>
  static cudaError_t HistogramEven(void* storage, size_t& storage_bytes, In in, Counter* bins, int levels, Level lower,
                                   Level upper, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(
        storage, storage_bytes, 1, stream, "cub::DeviceHistogram::HistogramEven", [=, in = detail::bare(in)](void*) {
          for (int b = 0; b < levels - 1; b++) bins[b] = 0;
          for (Count i = 0; i < count; i++) {
            const Level item = static_cast<Level>(in[i]);
            if (!(item >= lower && item < upper)) continue;
            int bin;
            if constexpr (std::is_integral<Level>::value)
              bin = static_cast<int>((static_cast<uint64_t>(item) - static_cast<uint64_t>(lower)) *
                                     static_cast<uint64_t>(levels - 1) /
                                     (static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower)));
            else
              bin = static_cast<int>((item - lower) * (static_cast<Level>(levels - 1) / (upper - lower)));
            bins[bin < levels - 1 ? bin : levels - 2]++;
          }
        });
  }
  // Bin b: boundaries[b] <= item < boundaries[b + 1].
  template <typename In, typename Counter, typename Level, typename Count>
  static cudaError_t HistogramRange(void* storage, size_t& storage_bytes, In in, Counter* bins, int levels,
                                    const Level* boundaries, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceHistogram::HistogramRange",
                                 [=, in = detail::bare(in)](void*) {
                                   for (int b = 0; b < levels - 1; b++) bins[b] = 0;
                                   for (Count i = 0; i < count; i++) {
                                     const Level item = static_cast<Level>(in[i]);
                                     int low = -1, high = levels;  // boundaries[low] <= item < boundaries[high]
                                     while (high - low > 1) {
                                       const int middle = (low + high) / 2;
                                       (boundaries[middle] <= item ? low : high) = middle;
                                     }
                                     if (low >= 0 && low < levels - 1) bins[low]++;
                                   }
                                 });
  }
};

}  // namespace cub
