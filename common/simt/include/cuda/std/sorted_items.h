// Of libcu++'s algorithms those of sorted items and of heaps. The iterators are random access ones.
#pragma once

#include "algorithm"

namespace cuda {
namespace std {

template <typename It, typename T, typename Less = detail::Less>
__host__ __device__ constexpr It lower_bound(It first, It last, const T& value, Less below = {}) {
  for (auto count = last - first; count > 0;) {
    const auto half = count / 2;
    const bool after = below(first[half], value);
    first += after ? half + 1 : 0;
    count = after ? count - half - 1 : half;
  }
  return first;
}
template <typename It, typename T, typename Less = detail::Less>
__host__ __device__ constexpr It upper_bound(It first, It last, const T& value, Less below = {}) {
  for (auto count = last - first; count > 0;) {
    const auto half = count / 2;
    const bool after = !below(value, first[half]);
    first += after ? half + 1 : 0;
    count = after ? count - half - 1 : half;
  }
  return first;
}

template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr It is_sorted_until(It first, It last, Less below = {}) {
  if (first == last) return last;
  for (It next = first; ++next != last; first = next)
    if (below(*next, *first)) return next;
  return last;
}
template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr bool is_sorted(It first, It last, Less below = {}) {
  return is_sorted_until(first, last, below) == last;
}
template <typename It, typename T, typename Less = detail::Less>
__host__ __device__ constexpr bool binary_search(It first, It last, const T& value, Less below = {}) {
  first = lower_bound(first, last, value, below);
  return first != last && !below(value, *first);
}
template <typename It, typename T, typename Less = detail::Less>
__host__ __device__ constexpr pair<It, It> equal_range(It first, It last, const T& value, Less below = {}) {
  return {lower_bound(first, last, value, below), upper_bound(first, last, value, below)};
}
template <typename A, typename B, typename Out, typename Less = detail::Less>
__host__ __device__ constexpr Out merge(A a, A a_last, B b, B b_last, Out to, Less below = {}) {
  while (a != a_last && b != b_last) {
    if (below(*b, *a))
      *to++ = *b++;
    else
      *to++ = *a++;
  }
  return copy(b, b_last, copy(a, a_last, to));
}
template <typename A, typename B, typename Out, typename Less = detail::Less>
__host__ __device__ constexpr Out set_intersection(A a, A a_last, B b, B b_last, Out to, Less below = {}) {
  while (a != a_last && b != b_last) {
    if (below(*a, *b))
      ++a;
    else if (below(*b, *a))
      ++b;
    else
      *to++ = *a++, ++b;
  }
  return to;
}
template <typename A, typename B, typename Out, typename Less = detail::Less>
__host__ __device__ constexpr Out set_difference(A a, A a_last, B b, B b_last, Out to, Less below = {}) {
  while (a != a_last && b != b_last) {
    if (below(*a, *b))
      *to++ = *a++;
    else if (below(*b, *a))
      ++b;
    else
      ++a, ++b;
  }
  return copy(a, a_last, to);
}
template <typename A, typename B, typename Out, typename Less = detail::Less>
__host__ __device__ constexpr Out set_union(A a, A a_last, B b, B b_last, Out to, Less below = {}) {
  while (a != a_last && b != b_last) {
    if (below(*b, *a)) {
      *to++ = *b++;
    } else {
      if (!below(*a, *b)) ++b;
      *to++ = *a++;
    }
  }
  return copy(b, b_last, copy(a, a_last, to));
}
template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr void push_heap(It first, It last, Less below = {}) {
  for (auto at = last - first - 1; at > 0 && below(first[(at - 1) / 2], first[at]); at = (at - 1) / 2)
    swap(first[(at - 1) / 2], first[at]);
}
template <typename It, typename Less>
__host__ __device__ constexpr void sift_down(It first, It last, It from, Less below) {
  const auto count = last - first;
  for (auto at = from - first;;) {
    auto child = 2 * at + 1;
    if (child >= count) return;
    if (child + 1 < count && below(first[child], first[child + 1])) child++;
    if (!below(first[at], first[child])) return;
    swap(first[at], first[child]);
    at = child;
  }
}
template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr void pop_heap(It first, It last, Less below = {}) {
  if (last - first < 2) return;
  swap(*first, *--last);
  sift_down(first, last, first, below);
}
template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr void make_heap(It first, It last, Less below = {}) {
  for (auto at = (last - first) / 2; at > 0; at--) sift_down(first, last, first + (at - 1), below);
}
template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr void sort_heap(It first, It last, Less below = {}) {
  for (; last - first > 1; --last) pop_heap(first, last, below);
}
template <typename It, typename Less = detail::Less>
__host__ __device__ constexpr void partial_sort(It first, It middle, It last, Less below = {}) {
  make_heap(first, middle, below);
  for (It it = middle; it != last; ++it) {
    if (middle == first || !below(*it, *first)) continue;
    swap(*it, *first);
    sift_down(first, middle, first, below);
  }
  sort_heap(first, middle, below);
}

}  // namespace std
}  // namespace cuda
