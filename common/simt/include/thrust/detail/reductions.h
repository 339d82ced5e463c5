// Reductions and searches. Unlike on a GPU, sums are added in order.
#pragma once

#include "../functional.h"
#include "copying.h"

namespace thrust {
namespace detail {

template <typename Where, typename It, typename T, typename Operation = plus<>>
T reduce_(const Where& where, It first, It last, T initial, Operation operation = {}) {
  return compute<T>(where, "thrust::reduce", [=, in = bare(first), count = last - first] {
    Operation combine = operation;
    T all = initial;
    for (std::ptrdiff_t i = 0; i < count; i++) all = static_cast<T>(combine(all, in[i]));
    return all;
  });
}
template <typename Where, typename It>
ValueOf<It> reduce_(const Where& where, It first, It last) {
  return reduce_(where, first, last, ValueOf<It>());
}
template <typename Where, typename It, typename Function, typename T, typename Operation>
T transform_reduce_(const Where& where, It first, It last, Function function, T initial, Operation operation) {
  return compute<T>(where, "thrust::transform_reduce", [=, in = bare(first), count = last - first] {
    Function each = function;
    Operation combine = operation;
    T all = initial;
    for (std::ptrdiff_t i = 0; i < count; i++) all = static_cast<T>(combine(all, each(in[i])));
    return all;
  });
}
template <typename Where, typename A, typename B, typename T, typename Sum = plus<>, typename Product = multiplies<>>
T inner_product_(const Where& where, A first, A last, B second, T initial, Sum sum = {}, Product product = {}) {
  return compute<T>(where, "thrust::inner_product", [=, a = bare(first), b = bare(second), count = last - first] {
    Sum combine = sum;
    Product multiply = product;
    T all = initial;
    for (std::ptrdiff_t i = 0; i < count; i++) all = static_cast<T>(combine(all, multiply(a[i], b[i])));
    return all;
  });
}

// The first i with found(i), or count.
template <typename Where, typename Found>
std::ptrdiff_t first_of(const Where& where, const char* name, std::ptrdiff_t count, const Found& found) {
  return compute<std::ptrdiff_t>(where, name, [=] {
    Found own = found;
    std::ptrdiff_t i = 0;
    while (i < count && !own(i)) i++;
    return i;
  });
}
template <typename Where, typename It, typename Predicate>
std::ptrdiff_t count_if_(const Where& where, It first, It last, Predicate predicate) {
  return transform_reduce_(
      where, first, last, [predicate](const ValueOf<It>& item) mutable { return predicate(item) ? 1 : 0; },
      std::ptrdiff_t(0), plus<>());
}
template <typename Where, typename It, typename T>
std::ptrdiff_t count_(const Where& where, It first, It last, T value) {
  return count_if_(where, first, last, [value](const ValueOf<It>& item) { return item == value; });
}
template <typename Where, typename It, typename Predicate>
It find_if_(const Where& where, It first, It last, Predicate predicate) {
  return first + first_of(where, "thrust::find_if", last - first,
                          [in = bare(first), predicate](std::ptrdiff_t i) mutable { return predicate(in[i]); });
}
template <typename Where, typename It, typename Predicate>
It find_if_not_(const Where& where, It first, It last, Predicate predicate) {
  return find_if_(where, first, last, [predicate](const ValueOf<It>& item) mutable { return !predicate(item); });
}
template <typename Where, typename It, typename T>
It find_(const Where& where, It first, It last, T value) {
  return find_if_(where, first, last, [value](const ValueOf<It>& item) { return item == value; });
}
template <typename Where, typename It, typename Predicate>
bool any_of_(const Where& where, It first, It last, Predicate predicate) {
  return find_if_(where, first, last, predicate) != last;
}
template <typename Where, typename It, typename Predicate>
bool none_of_(const Where& where, It first, It last, Predicate predicate) {
  return !any_of_(where, first, last, predicate);
}
template <typename Where, typename It, typename Predicate>
bool all_of_(const Where& where, It first, It last, Predicate predicate) {
  return !any_of_(where, first, last, [predicate](const ValueOf<It>& item) mutable { return !predicate(item); });
}
template <typename Where, typename A, typename B, typename Equal = equal_to<>>
bool equal_(const Where& where, A first, A last, B second, Equal equal = {}) {
  return first_of(where, "thrust::equal", last - first,
                  [a = bare(first), b = bare(second), equal](std::ptrdiff_t i) mutable {
                    return !equal(a[i], b[i]);
                  }) == last - first;
}
template <typename Where, typename A, typename B, typename Equal = equal_to<>>
pair<A, B> mismatch_(const Where& where, A first, A last, B second, Equal equal = {}) {
  const std::ptrdiff_t at =
      first_of(where, "thrust::mismatch", last - first,
               [a = bare(first), b = bare(second), equal](std::ptrdiff_t i) mutable { return !equal(a[i], b[i]); });
  return {first + at, second + at};
}
template <typename Where, typename It, typename Less = less<>>
It is_sorted_until_(const Where& where, It first, It last, Less below = {}) {
  return first +
         first_of(where, "thrust::is_sorted", last - first,
                  [in = bare(first), below](std::ptrdiff_t i) mutable { return i > 0 && below(in[i], in[i - 1]); });
}
template <typename Where, typename It, typename Less = less<>>
bool is_sorted_(const Where& where, It first, It last, Less below = {}) {
  return is_sorted_until_(where, first, last, below) == last;
}

template <typename Where, typename It, typename Better>
It best(const Where& where, const char* name, It first, It last, Better better) {
  return first + compute<std::ptrdiff_t>(where, name, [=, in = bare(first), count = last - first] {
           Better own = better;
           std::ptrdiff_t at = 0;
           for (std::ptrdiff_t i = 1; i < count; i++) {
             if (own(in[i], in[at])) at = i;
           }
           return at;
         });
}
template <typename Where, typename It, typename Less = less<>>
It min_element_(const Where& where, It first, It last, Less below = {}) {
  return best(where, "thrust::min_element", first, last, below);
}
template <typename Where, typename It, typename Less = less<>>
It max_element_(const Where& where, It first, It last, Less below = {}) {
  return best(where, "thrust::max_element", first, last,
              [below](const ValueOf<It>& a, const ValueOf<It>& b) mutable { return below(b, a); });
}
template <typename Where, typename It, typename Less = less<>>
pair<It, It> minmax_element_(const Where& where, It first, It last, Less below = {}) {
  return {min_element_(where, first, last, below), max_element_(where, first, last, below)};
}

template <typename Where, typename K, typename V, typename OutK, typename OutV, typename Equal = equal_to<>,
          typename Operation = plus<>>
pair<OutK, OutV> reduce_by_key_(const Where& where, K first, K last, V values, OutK keys_to, OutV values_to,
                                Equal equal = {}, Operation operation = {}) {
  const auto runs = compute<std::ptrdiff_t>(
      where, "thrust::reduce_by_key",
      [=, keys = bare(first), in = bare(values), k = bare(keys_to), v = bare(values_to), count = last - first] {
        Equal same = equal;
        Operation combine = operation;
        std::ptrdiff_t runs = 0;
        for (std::ptrdiff_t i = 0; i < count; runs++) {
          const ValueOf<K> key = keys[i];
          ValueOf<V> all = in[i];
          for (i++; i < count && same(key, keys[i]); i++) all = static_cast<ValueOf<V>>(combine(all, in[i]));
          k[runs] = key;
          v[runs] = all;
        }
        return runs;
      });
  return {keys_to + runs, values_to + runs};
}

}  // namespace detail

// Of two values, also in kernels.
template <typename T, typename Less = less<>>
__host__ __device__ const T& min(const T& a, const T& b, Less below = {}) {
  return below(b, a) ? b : a;
}
template <typename T, typename Less = less<>>
__host__ __device__ const T& max(const T& a, const T& b, Less below = {}) {
  return below(a, b) ? b : a;
}

SIMT_THRUST(reduce)
SIMT_THRUST(transform_reduce)
SIMT_THRUST(inner_product)
SIMT_THRUST(count)
SIMT_THRUST(count_if)
SIMT_THRUST(find)
SIMT_THRUST(find_if)
SIMT_THRUST(find_if_not)
SIMT_THRUST(any_of)
SIMT_THRUST(none_of)
SIMT_THRUST(all_of)
SIMT_THRUST(equal)
SIMT_THRUST(mismatch)
SIMT_THRUST(is_sorted)
SIMT_THRUST(is_sorted_until)
SIMT_THRUST(min_element)
SIMT_THRUST(max_element)
SIMT_THRUST(minmax_element)
SIMT_THRUST(reduce_by_key)

}  // namespace thrust
