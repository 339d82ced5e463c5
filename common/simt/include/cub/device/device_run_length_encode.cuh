// cub::DeviceRunLengthEncode.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceRunLengthEncode {
  // The value and the length of each run of equal items.
  template <typename In, typename Unique, typename Lengths, typename Number, typename Count>
  static cudaError_t Encode(void* storage, size_t& storage_bytes, In in, Unique unique, Lengths lengths, Number number,
                            Count count, cudaStream_t stream = nullptr) {
    return runs("cub::DeviceRunLengthEncode::Encode", storage, storage_bytes, in, lengths, number, count, stream, 1,
                [in = detail::bare(in), unique = detail::bare(unique)](auto run, Count first) mutable {
                  unique[run] = in[first];
                });
  }
  // The position and the length of each run of two or more equal items.
  template <typename In, typename Offsets, typename Lengths, typename Number, typename Count>
  static cudaError_t NonTrivialRuns(void* storage, size_t& storage_bytes, In in, Offsets offsets, Lengths lengths,
                                    Number number, Count count, cudaStream_t stream = nullptr) {
    return runs("cub::DeviceRunLengthEncode::NonTrivialRuns", storage, storage_bytes, in, lengths, number, count,
                stream, 2, [offsets = detail::bare(offsets)](auto run, Count first) mutable { offsets[run] = first; });
  }

 private:
  template <typename In, typename Lengths, typename Number, typename Count, typename Keep>
  static cudaError_t runs(const char* name, void* storage, size_t& storage_bytes, In in, Lengths lengths, Number number,
                          Count count, cudaStream_t stream, Count shortest, Keep keep) {
    return detail::in_two_phases(
        storage, storage_bytes, 1, stream, name,
        [=, in = detail::bare(in), lengths = detail::bare(lengths), number = detail::bare(number)](void*) {
          Keep own = keep;
          Count found = 0;
          for (Count first = 0, end = 0; first < count; first = end) {
            for (end = first + 1; end < count && in[end] == in[first];) end++;
            if (end - first < shortest) continue;
            own(found, first);
            lengths[found++] = end - first;
          }
          *number = found;
        });
  }
};

}  // namespace cub
