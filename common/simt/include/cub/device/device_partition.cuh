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
  // Three parts: first what the first predicate selects, then what the second does, then the rest, each in order.
  template <typename In, typename First, typename Second, typename Rest, typename Number, typename Count,
            typename SelectFirst, typename SelectSecond>
  static cudaError_t If(void* storage, size_t& storage_bytes, In in, First first, Second second, Rest rest,
                        Number selected, Count count, SelectFirst select_first, SelectSecond select_second,
                        cudaStream_t stream = nullptr) {
    return detail::in_two_phases(storage, storage_bytes, 1, stream, "cub::DevicePartition::If",
                                 [=, in = detail::bare(in), a = detail::bare(first), b = detail::bare(second),
                                  c = detail::bare(rest), selected = detail::bare(selected)](void*) {
                                   SelectFirst is_first = select_first;
                                   SelectSecond is_second = select_second;
                                   Count firsts = 0, seconds = 0;
                                   for (Count i = 0; i < count; i++) {
                                     const detail::ValueOf<In> item = in[i];
                                     if (is_first(item))
                                       a[firsts++] = item;
                                     else if (is_second(item))
                                       b[seconds++] = item;
                                     else
                                       c[i - firsts - seconds] = item;
                                   }
                                   selected[0] = firsts;
                                   selected[1] = seconds;
                                 });
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
