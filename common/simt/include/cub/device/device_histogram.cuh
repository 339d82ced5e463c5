// cub::DeviceHistogram of one channel, or of several that take turns in the input.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceHistogram {
  // levels - 1 bins of equal width, from lower to upper. upper itself is in none of them.
  template <typename In, typename Counter, typename Level, typename Count>
  static cudaError_t HistogramEven(void* storage, size_t& storage_bytes, In in, Counter* bins, int levels, Level lower,
                                   Level upper, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceHistogram::HistogramEven",
                                 [=, in = detail::bare(in)](void*) { even(in, 1, count, bins, levels, lower, upper); });
  }
  // Bin b: boundaries[b] <= item < boundaries[b + 1].
  template <typename In, typename Counter, typename Level, typename Count>
  static cudaError_t HistogramRange(void* storage, size_t& storage_bytes, In in, Counter* bins, int levels,
                                    const Level* boundaries, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceHistogram::HistogramRange",
                                 [=, in = detail::bare(in)](void*) { range(in, 1, count, bins, levels, boundaries); });
  }
  // Of `channels` that each pixel has, the first `active` ones.
  template <int channels, int active, typename In, typename Counter, typename Level, typename Count>
  static cudaError_t MultiHistogramEven(void* storage, size_t& storage_bytes, In in, Counter* const (&bins)[active],
                                        const int (&levels)[active], const Level (&lower)[active],
                                        const Level (&upper)[active], Count pixels, cudaStream_t stream = nullptr) {
    const Channels<Counter*, active> to(bins);
    const Channels<int, active> counts(levels);
    const Channels<Level, active> low(lower), high(upper);
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceHistogram::MultiHistogramEven",
                                 [=, in = detail::bare(in)](void*) {
                                   for (int c = 0; c < active; c++)
                                     even(in + c, channels, pixels, to[c], counts[c], low[c], high[c]);
                                 });
  }
  template <int channels, int active, typename In, typename Counter, typename Level, typename Count>
  static cudaError_t MultiHistogramRange(void* storage, size_t& storage_bytes, In in, Counter* const (&bins)[active],
                                         const int (&levels)[active], const Level* const (&boundaries)[active],
                                         Count pixels, cudaStream_t stream = nullptr) {
    const Channels<Counter*, active> to(bins);
    const Channels<int, active> counts(levels);
    const Channels<const Level*, active> at(boundaries);
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DeviceHistogram::MultiHistogramRange",
                                 [=, in = detail::bare(in)](void*) {
                                   for (int c = 0; c < active; c++)
                                     range(in + c, channels, pixels, to[c], counts[c], at[c]);
                                 });
  }

 private:
  // A copy that a kernel's closure may hold, whatever the caller's array was made of.
  template <typename T, int N>
  struct Channels {
    T items[N];
    template <typename Given>
    explicit Channels(const Given& given) {
      for (int c = 0; c < N; c++) items[c] = given[c];
    }
    T operator[](int c) const { return items[c]; }
  };

  template <typename In, typename Counter, typename Level, typename Count>
  static void even(const In& in, int step, Count count, Counter* bins, int levels, Level lower, Level upper) {
    for (int b = 0; b < levels - 1; b++) bins[b] = 0;
    for (Count i = 0; i < count; i++) {
      const Level item = static_cast<Level>(in[i * step]);
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
  }
  template <typename In, typename Counter, typename Level, typename Count>
  static void range(const In& in, int step, Count count, Counter* bins, int levels, const Level* boundaries) {
    for (int b = 0; b < levels - 1; b++) bins[b] = 0;
    for (Count i = 0; i < count; i++) {
      const Level item = static_cast<Level>(in[i * step]);
      int low = -1, high = levels;  // boundaries[low] <= item < boundaries[high]
      while (high - low > 1) {
        const int middle = (low + high) / 2;
        (boundaries[middle] <= item ? low : high) = middle;
      }
      if (low >= 0 && low < levels - 1) bins[low]++;
    }
  }
};

}  // namespace cub
