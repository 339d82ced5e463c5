// Sorts, all stable: a merge sort through a temporary array.
#pragma once

#include "../functional.h"
#include "copying.h"

namespace thrust {
namespace detail {

// Items of `items` in order; `other` has room for as many. Returns the one that has them in the end.
template <typename T, typename Less>
T* merge_sort(T* items, T* other, std::ptrdiff_t count, Less& below) {
  for (std::ptrdiff_t width = 1; width < count; width *= 2) {
    for (std::ptrdiff_t begin = 0; begin < count; begin += 2 * width) {
      const std::ptrdiff_t middle = begin + width < count ? begin + width : count;
      const std::ptrdiff_t end = middle + width < count ? middle + width : count;
      std::ptrdiff_t a = begin, b = middle;
      for (std::ptrdiff_t i = begin; i < end; i++) {
        const bool second = a == middle || (b < end && below(items[b], items[a]));
        other[i] = items[second ? b++ : a++];
      }
    }
    T* const sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

// `memory`: of 2 * count values, where the algorithm runs.
template <typename In, typename Value, typename Less>
void sort_through(const In& in, Value* memory, std::ptrdiff_t count, Less below) {
  for (std::ptrdiff_t i = 0; i < count; i++) new (memory + i) Value(in[i]);
  for (std::ptrdiff_t i = 0; i < count; i++) new (memory + count + i) Value(memory[i]);
  const Value* const sorted = merge_sort(memory, memory + count, count, below);
  for (std::ptrdiff_t i = 0; i < count; i++) in[i] = sorted[i];
}

template <typename Where, typename It, typename Less = less<>>
void stable_sort_(const Where& where, It first, It last, Less below = {}) {
  const std::ptrdiff_t count = last - first;
  if (count < 2) return;
  ScratchOf<Where, ValueOf<It>> memory(2 * static_cast<size_t>(count));
  run(where, "thrust::sort",
      [=, in = bare(first), scratch = memory.get()] { sort_through(in, scratch, count, below); });
}
template <typename Where, typename K, typename V, typename Less = less<>>
void stable_sort_by_key_(const Where& where, K first, K last, V values, Less below = {}) {
  const auto both = make_zip_iterator(first, values);
  stable_sort_(where, both, both + (last - first),
               [below](const auto& a, const auto& b) mutable { return below(thrust::get<0>(a), thrust::get<0>(b)); });
}
template <typename Where, typename... Rest>
void sort_(const Where& where, const Rest&... rest) {
  stable_sort_(where, rest...);
}
template <typename Where, typename... Rest>
void sort_by_key_(const Where& where, const Rest&... rest) {
  stable_sort_by_key_(where, rest...);
}

}  // namespace detail

SIMT_THRUST(sort)
SIMT_THRUST(stable_sort)
SIMT_THRUST(sort_by_key)
SIMT_THRUST(stable_sort_by_key)

}  // namespace thrust
