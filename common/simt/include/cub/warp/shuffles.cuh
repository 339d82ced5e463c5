// What CUB's warp and block primitives here share: shuffles of any type that can be copied, and the lanes that take
// part.
#pragma once

#include <cstring>
#include <type_traits>

#include "../../cuda_runtime.h"

namespace cub {

// Since CUDA 13 programs write cuda::std::plus or a functor of their own.
struct Sum {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Max {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return b > a ? b : a;
  }
};
struct Min {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

inline unsigned LaneId() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }
inline unsigned WarpId() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32; }

namespace detail {

// Moves the value in words of four bytes, as CUB does. shuffle: moves one word.
template <typename T, typename Shuffle>
T by_words(const T& value, Shuffle shuffle) {
  static_assert(std::is_trivially_copyable<T>::value, "a shuffle copies bytes: the type must be trivially copyable");
  unsigned words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
  for (unsigned& word : words) word = shuffle(word);
  T result = value;
  memcpy(&result, words, sizeof(T));
  return result;
}

template <typename T>
T from_above(unsigned mask, const T& value, unsigned step, int width) {
  return by_words(value, [=](unsigned word) { return __shfl_down_sync(mask, word, step, width); });
}
template <typename T>
T from_below(unsigned mask, const T& value, unsigned step, int width) {
  return by_words(value, [=](unsigned word) { return __shfl_up_sync(mask, word, step, width); });
}
template <typename T>
T from_lane(unsigned mask, const T& value, int lane, int width) {
  return by_words(value, [=](unsigned word) { return __shfl_sync(mask, word, lane, width); });
}

// The first `count` of `width` lanes, in the caller's part of the warp.
inline unsigned lanes(int count, int width) {
  const unsigned mask = count >= 32 ? 0xffffffffu : (1u << count) - 1;
  return mask << (LaneId() / width * width);
}

// In lane 0: the items of the first `valid` of `present` lanes, in order. A step never reads a lane that is not there.
template <typename T, typename Operation>
T reduce_lanes(T value, Operation operation, int valid, int present, int width) {
  const int lane = static_cast<int>(LaneId()) % width;
  const unsigned mask = lanes(present, width);
  for (int step = 1; step < width; step *= 2) {
    const bool there = lane + step < present;
    const T other =
        by_words(value, [=](unsigned word) { return __shfl_sync(mask, word, there ? lane + step : lane, width); });
    if (lane + step < valid) value = operation(value, other);
  }
  return value;
}

// In every lane: the items up to its own, in order.
template <typename T, typename Operation>
T scan_lanes(T value, Operation operation, int present, int width) {
  const int lane = static_cast<int>(LaneId()) % width;
  const unsigned mask = lanes(present, width);
  for (int step = 1; step < width; step *= 2) {
    const T other = from_below(mask, value, step, width);
    if (lane >= step) value = operation(other, value);
  }
  return value;
}

// Bytes for N values in shared memory, which has no constructors.
template <typename T, int N>
struct Slots {
  alignas(alignof(T)) unsigned char bytes[N * sizeof(T)];
  T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

}  // namespace detail
}  // namespace cub
