// cub::DeviceSelect: what it keeps stays in order.
#pragma once

#include "run.cuh"

namespace cub {

struct DeviceSelect {
  template <typename In, typename Out, typename Number, typename Count, typename Predicate>
  static cudaError_t If(void* storage, size_t& storage_bytes, In in, Out out, Number selected, Count count,
                        Predicate predicate, cudaStream_t stream = nullptr) {
    return keep("cub::DeviceSelect::If", storage, storage_bytes, in, out, selected, count, stream,
                detail::by_predicate(predicate));
  }
  template <typename In, typename Flags, typename Out, typename Number, typename Count>
  static cudaError_t Flagged(void* storage, size_t& storage_bytes, In in, Flags flags, Out out, Number selected,
                             Count count, cudaStream_t stream = nullptr) {
    return keep("cub::DeviceSelect::Flagged", storage, storage_bytes, in, out, selected, count, stream,
                detail::by_flags(flags));
  }
  template <typename In, typename Flags, typename Out, typename Number, typename Count, typename Predicate>
  static cudaError_t FlaggedIf(void* storage, size_t& storage_bytes, In in, Flags flags, Out out, Number selected,
                               Count count, Predicate predicate, cudaStream_t stream = nullptr) {
    return keep("cub::DeviceSelect::FlaggedIf", storage, storage_bytes, in, out, selected, count, stream,
                [predicate, flags = detail::bare(flags)](const auto&, auto i) {
                  Predicate own = predicate;
                  return static_cast<bool>(own(flags[i]));
                });
  }
  template <typename In, typename Out, typename Number, typename Count>
  static cudaError_t Unique(void* storage, size_t& storage_bytes, In in, Out out, Number selected, Count count,
                            cudaStream_t stream = nullptr) {
    return keep("cub::DeviceSelect::Unique", storage, storage_bytes, in, out, selected, count, stream,
                [](const auto& items, Count i) { return i == 0 || !(items[i] == items[i - 1]); });
  }
  // The first item of each run of equal keys, with its key.
  template <typename Keys, typename Values, typename KeysOut, typename ValuesOut, typename Number, typename Count>
  static cudaError_t UniqueByKey(void* storage, size_t& storage_bytes, Keys keys, Values values, KeysOut keys_out,
                                 ValuesOut values_out, Number selected, Count count, cudaStream_t stream = nullptr) {
    return detail::in_two_phases(
        storage, storage_bytes, 1, stream, "cub::DeviceSelect::UniqueByKey",
        [=, keys = detail::bare(keys), values = detail::bare(values), keys_out = detail::bare(keys_out),
         values_out = detail::bare(values_out), selected = detail::bare(selected)](void*) {
          Count n = 0;
          for (Count i = 0; i < count; i++) {
            if (i > 0 && keys[i] == keys[i - 1]) continue;
            keys_out[n] = keys[i];
            values_out[n++] = values[i];
          }
          *selected = n;
        });
  }

 private:
  template <typename In, typename Out, typename Number, typename Count, typename Keep>
  static cudaError_t keep(const char* name, void* storage, size_t& storage_bytes, In in, Out out, Number selected,
                          Count count, cudaStream_t stream, Keep keeps) {
    return detail::in_two_phases(
        storage, storage_bytes, 1, stream, name,
        [=, in = detail::bare(in), out = detail::bare(out), selected = detail::bare(selected)](void*) {
          Count n = 0;
          for (Count i = 0; i < count; i++) {
            if (keeps(in, i)) out[n++] = in[i];
          }
          *selected = n;
        });
  }
};

}  // namespace cub
