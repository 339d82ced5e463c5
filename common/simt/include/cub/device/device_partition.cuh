// cub::DevicePartition: the selected items come first, in order; the others follow, in reverse order, as in CUB.
#pragma once

#include "run.cuh"

namespace cub {

struct DevicePartition {
  template <typename In, typename Out, typename Number, typename Count, typename Predicate>
  static cudaError_t If(void* storage, size_t& storage_bytes, In in, Out out, Number selected, Count count,
                        Predicate predicate, cudaStream_t stream = nullptr) {
    return part("cub::DevicePartition::If", storage, storage_bytes, in, out, selected, count, stream,
                detail::by_predicate(predicate));
  }
  template <typename In, typename Flags, typename Out, typename Number, typename Count>
  static cudaError_t Flagged(void* storage, size_t& storage_bytes, In in, Flags flags, Out out, Number selected,
                             Count count, cudaStream_t stream = nullptr) {
    return part("cub::DevicePartition::Flagged", storage, storage_bytes, in, out, selected, count, stream,
                detail::by_flags(flags));
  }

 private:
  template <typename In, typename Out, typename Number, typename Count, typename Select>
  static cudaError_t part(const char* name, void* storage, size_t& storage_bytes, In in, Out out, Number selected,
                          Count count, cudaStream_t stream, Select selects) {
    return detail::in_two_phases(
        storage, storage_bytes, 1, stream, name,
        [=, in = detail::bare(in), out = detail::bare(out), selected = detail::bare(selected)](void*) {
          Count first = 0, last = count;
          for (Count i = 0; i < count; i++) {
            if (selects(in, i))
              out[first++] = in[i];
            else
              out[--last] = in[i];
          }
          *selected = first;
        });
  }
};

}  // namespace cub
