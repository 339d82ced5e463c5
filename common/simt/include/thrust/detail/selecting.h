// What keeps some items, in their order, and searches in sorted arrays.
#pragma once

#include "../functional.h"
#include "../pair.h"
#include "copying.h"

namespace thrust {
namespace detail {

// The items with keep(i), at `to`; how many. `to` may be `first`.
template <typename Where, typename In, typename Out, typename Keep>
std::ptrdiff_t kept(const Where& where, const char* name, In first, In last, Out to, const Keep& keep) {
  return compute<std::ptrdiff_t>(where, name, [=, in = bare(first), out = bare(to), count = last - first] {
    Keep own = keep;
    std::ptrdiff_t n = 0;
    for (std::ptrdiff_t i = 0; i < count; i++) {
      if (own(i)) out[n++] = in[i];
    }
    return n;
  });
}

template <typename Where, typename In, typename Stencil, typename Out, typename Predicate>
Out copy_if_(const Where& where, In first, In last, Stencil stencil, Out to, Predicate predicate) {
  return to + kept(where, "thrust::copy_if", first, last, to,
                   [s = bare(stencil), predicate](std::ptrdiff_t i) mutable { return predicate(s[i]); });
}
template <typename Where, typename In, typename Out, typename Predicate>
Out copy_if_(const Where& where, In first, In last, Out to, Predicate predicate) {
  return copy_if_(where, first, last, first, to, predicate);
}
template <typename Where, typename It, typename Predicate>
It remove_if_(const Where& where, It first, It last, Predicate predicate) {
  return first + kept(where, "thrust::remove_if", first, last, first,
                      [in = bare(first), predicate](std::ptrdiff_t i) mutable { return !predicate(in[i]); });
}
template <typename Where, typename It, typename Stencil, typename Predicate>
It remove_if_(const Where& where, It first, It last, Stencil stencil, Predicate predicate) {
  return first + kept(where, "thrust::remove_if", first, last, first,
                      [s = bare(stencil), predicate](std::ptrdiff_t i) mutable { return !predicate(s[i]); });
}
template <typename Where, typename It, typename T>
It remove_(const Where& where, It first, It last, T value) {
  return remove_if_(where, first, last, [value](const ValueOf<It>& item) { return item == value; });
}
template <typename Where, typename In, typename Out, typename Predicate>
Out remove_copy_if_(const Where& where, In first, In last, Out to, Predicate predicate) {
  return to + kept(where, "thrust::remove_copy_if", first, last, to,
                   [in = bare(first), predicate](std::ptrdiff_t i) mutable { return !predicate(in[i]); });
}
template <typename Where, typename In, typename Stencil, typename Out, typename Predicate>
Out remove_copy_if_(const Where& where, In first, In last, Stencil stencil, Out to, Predicate predicate) {
  return to + kept(where, "thrust::remove_copy_if", first, last, to,
                   [s = bare(stencil), predicate](std::ptrdiff_t i) mutable { return !predicate(s[i]); });
}
template <typename Where, typename In, typename Out, typename T>
Out remove_copy_(const Where& where, In first, In last, Out to, T value) {
  return remove_copy_if_(where, first, last, to, [value](const ValueOf<In>& item) { return item == value; });
}
template <typename Where, typename In, typename Equal = equal_to<>>
std::ptrdiff_t unique_count_(const Where& where, In first, In last, Equal equal = {}) {
  return compute<std::ptrdiff_t>(where, "thrust::unique_count", [=, in = bare(first), count = last - first] {
    Equal same = equal;
    std::ptrdiff_t runs = count > 0;
    for (std::ptrdiff_t i = 1; i < count; i++) runs += !same(in[i - 1], in[i]);
    return runs;
  });
}
template <typename Where, typename In, typename Out, typename Equal = equal_to<>>
Out unique_copy_(const Where& where, In first, In last, Out to, Equal equal = {}) {
  return to +
         compute<std::ptrdiff_t>(where, "thrust::unique", [=, in = bare(first), out = bare(to), count = last - first] {
           Equal same = equal;
           if (count <= 0) return std::ptrdiff_t(0);
           ValueOf<In> before = in[0];
           std::ptrdiff_t n = 0;
           out[n++] = before;
           for (std::ptrdiff_t i = 1; i < count; i++) {
             const ValueOf<In> item = in[i];
             if (!same(before, item)) out[n++] = item;
             before = item;
           }
           return n;
         });
}
// Of each run of equal keys the first, with its value.
template <typename Where, typename Keys, typename Values, typename ToKeys, typename ToValues,
          typename Equal = equal_to<>>
pair<ToKeys, ToValues> unique_by_key_copy_(const Where& where, Keys first, Keys last, Values values, ToKeys to_keys,
                                           ToValues to_values, Equal equal = {}) {
  const std::ptrdiff_t count =
      compute<std::ptrdiff_t>(where, "thrust::unique_by_key",
                              [equal, keys = bare(first), values = bare(values), to_keys = bare(to_keys),
                               to_values = bare(to_values), count = last - first] {
                                Equal same = equal;
                                std::ptrdiff_t n = 0;
                                ValueOf<Keys> before{};
                                for (std::ptrdiff_t i = 0; i < count; i++) {
                                  const ValueOf<Keys> key = keys[i];
                                  if (i == 0 || !same(before, key)) {
                                    to_keys[n] = key;
                                    to_values[n++] = values[i];
                                  }
                                  before = key;
                                }
                                return n;
                              });
  return {to_keys + count, to_values + count};
}
template <typename Where, typename Keys, typename Values, typename Equal = equal_to<>>
pair<Keys, Values> unique_by_key_(const Where& where, Keys first, Keys last, Values values, Equal equal = {}) {
  return unique_by_key_copy_(where, first, last, values, first, values, equal);
}
template <typename Where, typename It, typename Equal = equal_to<>>
It unique_(const Where& where, It first, It last, Equal equal = {}) {
  return unique_copy_(where, first, last, first, equal);
}

}  // namespace detail

SIMT_THRUST(copy_if)
SIMT_THRUST(remove_if)
SIMT_THRUST(remove)
SIMT_THRUST(remove_copy)
SIMT_THRUST(remove_copy_if)
SIMT_THRUST(unique)
SIMT_THRUST(unique_copy)
SIMT_THRUST(unique_count)
SIMT_THRUST(unique_by_key)
SIMT_THRUST(unique_by_key_copy)

}  // namespace thrust
