// On sorted arrays: searches, merges, sets.
#pragma once

#include "../functional.h"
#include "copying.h"

namespace thrust {
namespace detail {

// The first position at which `value` could be inserted, or the last (after equal items).
template <typename It, typename T, typename Less>
std::ptrdiff_t place_of(const It& in, std::ptrdiff_t count, const T& value, Less& below, bool last) {
  std::ptrdiff_t begin = 0;
  while (count > 0) {
    const std::ptrdiff_t half = count / 2;
    const bool is_after = last ? !below(value, in[begin + half]) : below(in[begin + half], value);
    if (is_after) begin += half + 1;
    count = is_after ? count - half - 1 : half;
  }
  return begin;
}

template <typename Where, typename It, typename T, typename Less>
It bound(const Where& where, const char* name, It first, It last, T value, Less below, bool upper) {
  return first + compute<std::ptrdiff_t>(where, name, [=, in = bare(first), count = last - first] {
           Less own = below;
           return place_of(in, count, value, own, upper);
         });
}
template <typename Where, typename It, typename Values, typename Out, typename Work>
Out for_values(const Where& where, const char* name, It first, It last, Values values, Values end, Out to, Work work) {
  run(where, name,
      [=, in = bare(first), sought = bare(values), out = bare(to), count = last - first, n = end - values] {
        Work own = work;
        for (std::ptrdiff_t i = 0; i < n; i++) out[i] = own(in, count, ValueOf<Values>(sought[i]));
      });
  return to + (end - values);
}

// Of one value, or of those of an array: name(first, last, value[, less]), name(first, last, values, end, to[, less]).
#define SIMT_SEARCH(name, upper)                                                                           \
  template <typename Where, typename It, typename T, typename Less = less<>>                               \
  It name##_(const Where& where, It first, It last, const T& value, Less below = {}) {                     \
    return bound(where, "thrust::" #name, first, last, value, below, upper);                               \
  }                                                                                                        \
  template <typename Where, typename It, typename Values, typename Out, typename Less = less<>>            \
  Out name##_(const Where& where, It first, It last, Values values, Values end, Out to, Less below = {}) { \
    return for_values(where, "thrust::" #name, first, last, values, end, to,                               \
                      [below](const auto& in, std::ptrdiff_t count, const auto& value) mutable {           \
                        return place_of(in, count, value, below, upper);                                   \
                      });                                                                                  \
  }
SIMT_SEARCH(lower_bound, false)
SIMT_SEARCH(upper_bound, true)
#undef SIMT_SEARCH

template <typename It, typename T, typename Less>
bool is_among(const It& in, std::ptrdiff_t count, const T& value, Less& below) {
  const std::ptrdiff_t at = place_of(in, count, value, below, false);
  return at < count && !below(value, in[at]);
}
template <typename Where, typename It, typename T, typename Less = less<>>
bool binary_search_(const Where& where, It first, It last, const T& value, Less below = {}) {
  return compute<bool>(where, "thrust::binary_search", [=, in = bare(first), count = last - first] {
    Less own = below;
    return is_among(in, count, value, own);
  });
}
template <typename Where, typename It, typename Values, typename Out, typename Less = less<>>
Out binary_search_(const Where& where, It first, It last, Values values, Values end, Out to, Less below = {}) {
  return for_values(where, "thrust::binary_search", first, last, values, end, to,
                    [below](const auto& in, std::ptrdiff_t count, const auto& value) mutable {
                      return is_among(in, count, value, below);
                    });
}
template <typename Where, typename It, typename T, typename Less = less<>>
std::pair<It, It> equal_range_(const Where& where, It first, It last, const T& value, Less below = {}) {
  return {lower_bound_(where, first, last, value, below), upper_bound_(where, first, last, value, below)};
}

// Which items of two sorted arrays a result has. Of those that stand in both, the first array's.
struct Members {
  bool only_first, only_second, both, twice;  // twice: both of a pair of equals
};

// Walks through both and hands on what is wanted: put(whether it is the second's, where). How many that were.
template <typename A, typename B, typename Less, typename Put>
std::ptrdiff_t walk(const A& a, std::ptrdiff_t count_a, const B& b, std::ptrdiff_t count_b, Less& below,
                    const Members& wanted, const Put& put) {
  std::ptrdiff_t i = 0, j = 0, n = 0;
  while (i < count_a || j < count_b) {
    const bool first = j == count_b || (i < count_a && below(a[i], b[j]));
    const bool second = !first && (i == count_a || below(b[j], a[i]));
    if (first ? wanted.only_first : second ? wanted.only_second : wanted.both) put(second, second ? j : i, n++);
    if (!first && !second && wanted.twice) {
      i++;  // the second's comes when the first has no more equals
      continue;
    }
    i += !second;
    j += !first;
  }
  return n;
}

template <typename Where, typename A, typename B, typename Out, typename Less>
Out joined(const Where& where, const char* name, A a, A end_a, B b, B end_b, Out to, Less below, Members wanted) {
  return to + compute<std::ptrdiff_t>(
                  where, name,
                  [=, in_a = bare(a), in_b = bare(b), out = bare(to), count_a = end_a - a, count_b = end_b - b] {
                    Less own = below;
                    return walk(in_a, count_a, in_b, count_b, own, wanted,
                                [&](bool second, std::ptrdiff_t from, std::ptrdiff_t n) {
                                  if (second)
                                    out[n] = in_b[from];
                                  else
                                    out[n] = in_a[from];
                                });
                  });
}
#define SIMT_JOIN(name, ...)                                                                     \
  template <typename Where, typename A, typename B, typename Out, typename Less = less<>>        \
  Out name##_(const Where& where, A a, A end_a, B b, B end_b, Out to, Less below = {}) {         \
    return joined(where, "thrust::" #name, a, end_a, b, end_b, to, below, Members{__VA_ARGS__}); \
  }
SIMT_JOIN(merge, true, true, true, true)
SIMT_JOIN(set_union, true, true, true, false)
SIMT_JOIN(set_intersection, false, false, true, false)
SIMT_JOIN(set_difference, true, false, false, false)
SIMT_JOIN(set_symmetric_difference, true, true, false, false)
#undef SIMT_JOIN

template <typename Where, typename KA, typename KB, typename VA, typename VB, typename KO, typename VO,
          typename Less = less<>>
std::pair<KO, VO> merge_by_key_(const Where& where, KA a, KA end_a, KB b, KB end_b, VA values_a, VB values_b, KO keys,
                                VO values, Less below = {}) {
  const auto both_a = make_zip_iterator(a, values_a);
  const auto both_b = make_zip_iterator(b, values_b);
  merge_(where, both_a, both_a + (end_a - a), both_b, both_b + (end_b - b), make_zip_iterator(keys, values),
         [below](const auto& x, const auto& y) mutable { return below(thrust::get<0>(x), thrust::get<0>(y)); });
  const auto count = (end_a - a) + (end_b - b);
  return {keys + count, values + count};
}

// What of the second array has values that the result may take, too. An intersection takes none.
template <typename Where, typename KA, typename KB, typename VA, typename VB, typename KO, typename VO, typename Less>
std::pair<KO, VO> joined_by_key(const Where& where, const char* name, KA a, KA end_a, KB b, KB end_b, VA values_a,
                                VB values_b, KO keys, VO values, Less below, Members wanted) {
  const auto both_a = make_zip_iterator(a, values_a);
  const auto both_b = make_zip_iterator(b, values_b);
  const auto out = make_zip_iterator(keys, values);
  const auto end = joined(
      where, name, both_a, both_a + (end_a - a), both_b, both_b + (end_b - b), out,
      [below](const auto& x, const auto& y) mutable { return below(thrust::get<0>(x), thrust::get<0>(y)); }, wanted);
  return {keys + (end - out), values + (end - out)};
}
#define SIMT_JOIN(name, ...)                                                                                      \
  template <typename Where, typename KA, typename KB, typename VA, typename VB, typename KO, typename VO,         \
            typename Less = less<>>                                                                               \
  std::pair<KO, VO> name##_by_key_(const Where& where, KA a, KA end_a, KB b, KB end_b, VA values_a, VB values_b,  \
                                   KO keys, VO values, Less below = {}) {                                         \
    return joined_by_key(where, "thrust::" #name "_by_key", a, end_a, b, end_b, values_a, values_b, keys, values, \
                         below, Members{__VA_ARGS__});                                                            \
  }
SIMT_JOIN(set_union, true, true, true, false)
SIMT_JOIN(set_difference, true, false, false, false)
SIMT_JOIN(set_symmetric_difference, true, true, false, false)
#undef SIMT_JOIN
template <typename Where, typename KA, typename KB, typename VA, typename KO, typename VO, typename Less = less<>>
std::pair<KO, VO> set_intersection_by_key_(const Where& where, KA a, KA end_a, KB b, KB end_b, VA values_a, KO keys,
                                           VO values, Less below = {}) {
  return joined_by_key(where, "thrust::set_intersection_by_key", a, end_a, b, end_b, values_a,
                       make_constant_iterator(ValueOf<VA>()), keys, values, below, Members{false, false, true, false});
}

}  // namespace detail

SIMT_THRUST(lower_bound)
SIMT_THRUST(upper_bound)
SIMT_THRUST(binary_search)
SIMT_THRUST(equal_range)
SIMT_THRUST(merge)
SIMT_THRUST(merge_by_key)
SIMT_THRUST(set_union)
SIMT_THRUST(set_intersection)
SIMT_THRUST(set_difference)
SIMT_THRUST(set_symmetric_difference)
SIMT_THRUST(set_union_by_key)
SIMT_THRUST(set_intersection_by_key)
SIMT_THRUST(set_difference_by_key)
SIMT_THRUST(set_symmetric_difference_by_key)

}  // namespace thrust
