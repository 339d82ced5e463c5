// Scans. The output may be the input.
#pragma once

#include "../functional.h"
#include "copying.h"

namespace thrust {
namespace detail {

template <typename Where, typename In, typename Out, typename Function, typename Operation>
Out transform_inclusive_scan_(const Where& where, In first, In last, Out to, Function function, Operation operation) {
  run(where, "thrust::inclusive_scan", [=, in = bare(first), out = bare(to), count = last - first] {
    Function each = function;
    Operation combine = operation;
    if (count <= 0) return;
    auto all = std::decay_t<decltype(each(in[0]))>(each(in[0]));
    out[0] = all;
    for (std::ptrdiff_t i = 1; i < count; i++) out[i] = all = combine(all, each(in[i]));
  });
  return to + (last - first);
}
template <typename Where, typename In, typename Out, typename Function, typename T, typename Operation>
Out transform_exclusive_scan_(const Where& where, In first, In last, Out to, Function function, T initial,
                              Operation operation) {
  run(where, "thrust::exclusive_scan", [=, in = bare(first), out = bare(to), count = last - first] {
    Function each = function;
    Operation combine = operation;
    T all = initial;
    for (std::ptrdiff_t i = 0; i < count; i++) {
      const T before = all;
      all = static_cast<T>(combine(before, each(in[i])));
      out[i] = before;
    }
  });
  return to + (last - first);
}
template <typename Value>
struct AsIs {
  Value operator()(const Value& value) const { return value; }
};
template <typename Where, typename In, typename Out, typename Operation = plus<>>
Out inclusive_scan_(const Where& where, In first, In last, Out to, Operation operation = {}) {
  return transform_inclusive_scan_(where, first, last, to, AsIs<ValueOf<In>>(), operation);
}
template <typename Where, typename In, typename Out, typename T, typename Operation = plus<>>
Out exclusive_scan_(const Where& where, In first, In last, Out to, T initial, Operation operation = {}) {
  return transform_exclusive_scan_(where, first, last, to, AsIs<ValueOf<In>>(), initial, operation);
}
template <typename Where, typename In, typename Out>
Out exclusive_scan_(const Where& where, In first, In last, Out to) {
  return exclusive_scan_(where, first, last, to, ValueOf<In>());
}

// A scan of its own for each run of neighbours with equal keys.
template <typename Where, typename Keys, typename In, typename Out, typename Equal = equal_to<>,
          typename Operation = plus<>>
Out inclusive_scan_by_key_(const Where& where, Keys first, Keys last, In values, Out to, Equal equal = {},
                           Operation operation = {}) {
  run(where, "thrust::inclusive_scan_by_key",
      [=, keys = bare(first), in = bare(values), out = bare(to), count = last - first] {
        Equal same = equal;
        Operation combine = operation;
        if (count <= 0) return;
        auto all = ValueOf<In>(in[0]);
        out[0] = all;
        for (std::ptrdiff_t i = 1; i < count; i++) {
          const ValueOf<In> value = in[i];
          all = same(keys[i - 1], keys[i]) ? static_cast<ValueOf<In>>(combine(all, value)) : value;
          out[i] = all;
        }
      });
  return to + (last - first);
}
template <typename Where, typename Keys, typename In, typename Out, typename T, typename Equal = equal_to<>,
          typename Operation = plus<>>
Out exclusive_scan_by_key_(const Where& where, Keys first, Keys last, In values, Out to, T initial, Equal equal = {},
                           Operation operation = {}) {
  run(where, "thrust::exclusive_scan_by_key",
      [=, keys = bare(first), in = bare(values), out = bare(to), count = last - first] {
        Equal same = equal;
        Operation combine = operation;
        T all = initial;
        for (std::ptrdiff_t i = 0; i < count; i++) {
          if (i && !same(keys[i - 1], keys[i])) all = initial;
          const T before = all;
          all = static_cast<T>(combine(before, in[i]));
          out[i] = before;
        }
      });
  return to + (last - first);
}
template <typename Where, typename Keys, typename In, typename Out>
Out exclusive_scan_by_key_(const Where& where, Keys first, Keys last, In values, Out to) {
  return exclusive_scan_by_key_(where, first, last, values, to, ValueOf<In>());
}

}  // namespace detail

SIMT_THRUST(inclusive_scan)
SIMT_THRUST(exclusive_scan)
SIMT_THRUST(transform_inclusive_scan)
SIMT_THRUST(transform_exclusive_scan)
SIMT_THRUST(inclusive_scan_by_key)
SIMT_THRUST(exclusive_scan_by_key)

}  // namespace thrust
