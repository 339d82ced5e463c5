// Algorithms that treat each item by itself.
#pragma once

#include "../functional.h"
#include "copying.h"

namespace thrust {
namespace detail {

// work(i) for each of count items.
template <typename Where, typename Work>
void for_count(const Where& where, const char* name, std::ptrdiff_t count, const Work& work) {
  if (count <= 0) return;
  run(where, name, [=] {
    Work own = work;
    for (std::ptrdiff_t i = 0; i < count; i++) own(i);
  });
}

template <typename Where, typename It, typename Function>
It for_each_(const Where& where, It first, It last, Function function) {
  for_count(where, "thrust::for_each", last - first,
            [in = bare(first), function](std::ptrdiff_t i) mutable { function(in[i]); });
  return last;
}
template <typename Where, typename It, typename Count, typename Function>
It for_each_n_(const Where& where, It first, Count count, Function function) {
  return for_each_(where, first, first + count, function);
}
template <typename Where, typename It, typename T>
void fill_(const Where& where, It first, It last, T value) {
  for_count(where, "thrust::fill", last - first, [out = bare(first), value](std::ptrdiff_t i) { out[i] = value; });
}
template <typename Where, typename It, typename Count, typename T>
It fill_n_(const Where& where, It first, Count count, T value) {
  return fill_(where, first, first + count, value), first + count;
}
template <typename Where, typename It, typename T = ValueOf<It>>
void sequence_(const Where& where, It first, It last, T begin = T(0), T step = T(1)) {
  for_count(where, "thrust::sequence", last - first, [=, out = bare(first)](std::ptrdiff_t i) {
    out[i] = static_cast<ValueOf<It>>(begin + static_cast<T>(i) * step);
  });
}
template <typename Where, typename It, typename Function>
void generate_(const Where& where, It first, It last, Function function) {
  for_count(where, "thrust::generate", last - first,
            [out = bare(first), function](std::ptrdiff_t i) mutable { out[i] = function(); });
}
template <typename Where, typename It, typename Count, typename Function>
It generate_n_(const Where& where, It first, Count count, Function function) {
  return generate_(where, first, first + count, function), first + count;
}
template <typename Where, typename It, typename Function>
void tabulate_(const Where& where, It first, It last, Function function) {
  for_count(where, "thrust::tabulate", last - first,
            [out = bare(first), function](std::ptrdiff_t i) mutable { out[i] = function(i); });
}
template <typename Where, typename In, typename Out, typename Function>
Out transform_(const Where& where, In first, In last, Out to, Function function) {
  for_count(where, "thrust::transform", last - first,
            [in = bare(first), out = bare(to), function](std::ptrdiff_t i) mutable { out[i] = function(in[i]); });
  return to + (last - first);
}
template <typename Where, typename A, typename B, typename Out, typename Function>
Out transform_(const Where& where, A first, A last, B second, Out to, Function function) {
  for_count(where, "thrust::transform", last - first,
            [a = bare(first), b = bare(second), out = bare(to), function](std::ptrdiff_t i) mutable {
              out[i] = function(a[i], b[i]);
            });
  return to + (last - first);
}
template <typename Where, typename In, typename Out, typename Function, typename Predicate>
Out transform_if_(const Where& where, In first, In last, Out to, Function function, Predicate predicate) {
  return transform_if_(where, first, last, first, to, function, predicate);
}
template <typename Where, typename In, typename Stencil, typename Out, typename Function, typename Predicate>
Out transform_if_(const Where& where, In first, In last, Stencil stencil, Out to, Function function,
                  Predicate predicate) {
  for_count(where, "thrust::transform_if", last - first,
            [in = bare(first), s = bare(stencil), out = bare(to), function, predicate](std::ptrdiff_t i) mutable {
              if (predicate(s[i])) out[i] = function(in[i]);
            });
  return to + (last - first);
}
template <typename Where, typename A, typename B, typename Stencil, typename Out, typename Function, typename Predicate>
Out transform_if_(const Where& where, A first, A last, B second, Stencil stencil, Out to, Function function,
                  Predicate predicate) {
  for_count(where, "thrust::transform_if", last - first,
            [a = bare(first), b = bare(second), s = bare(stencil), out = bare(to), function,
             predicate](std::ptrdiff_t i) mutable {
              if (predicate(s[i])) out[i] = function(a[i], b[i]);
            });
  return to + (last - first);
}
template <typename Where, typename Map, typename In, typename Out>
Out gather_(const Where& where, Map first, Map last, In from, Out to) {
  for_count(where, "thrust::gather", last - first,
            [map = bare(first), in = bare(from), out = bare(to)](std::ptrdiff_t i) { out[i] = in[map[i]]; });
  return to + (last - first);
}
template <typename Where, typename In, typename Map, typename Out>
void scatter_(const Where& where, In first, In last, Map places, Out to) {
  for_count(where, "thrust::scatter", last - first,
            [in = bare(first), map = bare(places), out = bare(to)](std::ptrdiff_t i) { out[map[i]] = in[i]; });
}
template <typename Where, typename In, typename Map, typename Stencil, typename Out>
void scatter_if_(const Where& where, In first, In last, Map places, Stencil stencil, Out to) {
  for_count(where, "thrust::scatter_if", last - first,
            [in = bare(first), map = bare(places), s = bare(stencil), out = bare(to)](std::ptrdiff_t i) {
              if (s[i]) out[map[i]] = in[i];
            });
}
template <typename Where, typename In, typename Map, typename Stencil, typename Out, typename Predicate>
void scatter_if_(const Where& where, In first, In last, Map places, Stencil stencil, Out to, Predicate predicate) {
  for_count(where, "thrust::scatter_if", last - first,
            [in = bare(first), map = bare(places), s = bare(stencil), out = bare(to), predicate](std::ptrdiff_t i) {
              if (predicate(s[i])) out[map[i]] = in[i];
            });
}
template <typename Where, typename Map, typename Stencil, typename In, typename Out>
Out gather_if_(const Where& where, Map first, Map last, Stencil stencil, In from, Out to) {
  for_count(where, "thrust::gather_if", last - first,
            [map = bare(first), s = bare(stencil), in = bare(from), out = bare(to)](std::ptrdiff_t i) {
              if (s[i]) out[i] = in[map[i]];
            });
  return to + (last - first);
}
template <typename Where, typename It, typename Other>
Other swap_ranges_(const Where& where, It first, It last, Other second) {
  for_count(where, "thrust::swap_ranges", last - first, [a = bare(first), b = bare(second)](std::ptrdiff_t i) {
    const ValueOf<It> kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  });
  return second + (last - first);
}
template <typename Where, typename It, typename T>
void replace_(const Where& where, It first, It last, T old, T value) {
  for_count(where, "thrust::replace", last - first, [out = bare(first), old, value](std::ptrdiff_t i) {
    if (out[i] == old) out[i] = value;
  });
}
template <typename Where, typename It, typename Predicate, typename T>
void replace_if_(const Where& where, It first, It last, Predicate predicate, T value) {
  for_count(where, "thrust::replace_if", last - first, [out = bare(first), predicate, value](std::ptrdiff_t i) mutable {
    if (predicate(out[i])) out[i] = value;
  });
}
template <typename Where, typename It, typename Stencil, typename Predicate, typename T>
void replace_if_(const Where& where, It first, It last, Stencil stencil, Predicate predicate, T value) {
  for_count(where, "thrust::replace_if", last - first,
            [out = bare(first), s = bare(stencil), predicate, value](std::ptrdiff_t i) mutable {
              if (predicate(s[i])) out[i] = value;
            });
}
template <typename Where, typename In, typename Out, typename Predicate, typename T>
Out replace_copy_if_(const Where& where, In first, In last, Out to, Predicate predicate, T value) {
  for_count(where, "thrust::replace_copy_if", last - first,
            [in = bare(first), out = bare(to), predicate, value](std::ptrdiff_t i) mutable {
              out[i] = predicate(in[i]) ? static_cast<ValueOf<In>>(value) : static_cast<ValueOf<In>>(in[i]);
            });
  return to + (last - first);
}
template <typename Where, typename In, typename Out, typename T>
Out replace_copy_(const Where& where, In first, In last, Out to, T old, T value) {
  return replace_copy_if_(
      where, first, last, to, [old](const ValueOf<In>& item) { return item == old; }, value);
}
template <typename Where, typename In, typename Out, typename Operation = minus<>>
Out adjacent_difference_(const Where& where, In first, In last, Out to, Operation operation = {}) {
  run(where, "thrust::adjacent_difference", [operation, in = bare(first), out = bare(to), count = last - first] {
    Operation own_operation = operation;
    ValueOf<In> before{};
    for (std::ptrdiff_t i = 0; i < count; i++) {
      const ValueOf<In> own = in[i];  // `to` may be `first`
      out[i] = i ? static_cast<ValueOf<In>>(own_operation(own, before)) : own;
      before = own;
    }
  });
  return to + (last - first);
}

}  // namespace detail

SIMT_THRUST(for_each)
SIMT_THRUST(for_each_n)
SIMT_THRUST(fill)
SIMT_THRUST(fill_n)
SIMT_THRUST(sequence)
SIMT_THRUST(generate)
SIMT_THRUST(generate_n)
SIMT_THRUST(tabulate)
SIMT_THRUST(transform)
SIMT_THRUST(transform_if)
SIMT_THRUST(gather)
SIMT_THRUST(scatter)
SIMT_THRUST(scatter_if)
SIMT_THRUST(gather_if)
SIMT_THRUST(swap_ranges)
SIMT_THRUST(replace)
SIMT_THRUST(replace_if)
SIMT_THRUST(replace_copy)
SIMT_THRUST(replace_copy_if)
SIMT_THRUST(adjacent_difference)

}  // namespace thrust
