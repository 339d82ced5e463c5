// CUB's operators that its algorithms take.
#pragma once

#include "../device/device_reduce.cuh"

namespace cub {

struct Equality {
  template <typename T, typename U>
  bool operator()(const T& a, const U& b) const {
    return a == b;
  }
};
struct Inequality {
  template <typename T, typename U>
  bool operator()(const T& a, const U& b) const {
    return a != b;
  }
};
// Of pairs the one with the largest or smallest value; of equal ones that with the smallest key.
struct ArgMax {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

}  // namespace cub
