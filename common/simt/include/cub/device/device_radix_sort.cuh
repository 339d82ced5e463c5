// cub::DeviceRadixSort: stable, by any range of bits, as CUB's (a merge sort, here).
#pragma once

#include "../../thrust/detail/sorting.h"
#include "run.cuh"

namespace cub {

// Two arrays; the sorted items are in Current().
template <typename T>
struct DoubleBuffer {
  T* d_buffers[2] = {};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
#define SIMT_SORT(name, descending)                                                                                    \
  template <typename Key, typename Count>                                                                              \
  static cudaError_t name##Keys##descending(void* storage, size_t& bytes, const Key* in, Key* out, Count count,        \
                                            int begin_bit = 0, int end_bit = sizeof(Key) * 8,                          \
                                            cudaStream_t stream = nullptr) {                                           \
    return sort<is##descending>(storage, bytes, in, out, none, none, count, begin_bit, end_bit, stream);               \
  }                                                                                                                    \
  template <typename Key, typename Count>                                                                              \
  static cudaError_t name##Keys##descending(void* storage, size_t& bytes, DoubleBuffer<Key>& keys, Count count,        \
                                            int begin_bit = 0, int end_bit = sizeof(Key) * 8,                          \
                                            cudaStream_t stream = nullptr) {                                           \
    return sort<is##descending>(storage, bytes, keys.Current(), keys.Current(), none, none, count, begin_bit, end_bit, \
                                stream);                                                                               \
  }                                                                                                                    \
  template <typename Key, typename Value, typename Count>                                                              \
  static cudaError_t name##Pairs##descending(                                                                          \
      void* storage, size_t& bytes, const Key* in, Key* out, const Value* values_in, Value* values_out, Count count,   \
      int begin_bit = 0, int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {                               \
    return sort<is##descending>(storage, bytes, in, out, values_in, values_out, count, begin_bit, end_bit, stream);    \
  }                                                                                                                    \
  template <typename Key, typename Value, typename Count>                                                              \
  static cudaError_t name##Pairs##descending(void* storage, size_t& bytes, DoubleBuffer<Key>& keys,                    \
                                             DoubleBuffer<Value>& values, Count count, int begin_bit = 0,              \
                                             int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {           \
    return sort<is##descending>(storage, bytes, keys.Current(), keys.Current(), values.Current(), values.Current(),    \
                                count, begin_bit, end_bit, stream);                                                    \
  }
  SIMT_SORT(Sort, )
  SIMT_SORT(Sort, Descending)
#undef SIMT_SORT

 private:
  static constexpr bool is = false, isDescending = true;
  static constexpr NullType* none = nullptr;

  template <bool descending, typename Key, typename Value, typename Count>
  static cudaError_t sort(void* storage, size_t& bytes, const Key* in, Key* out, const Value* values_in,
                          Value* values_out, Count count, int begin_bit, int end_bit, cudaStream_t stream) {
    struct Pair {
      Key key;
      Value value;
    };
    return detail::in_two_phases(storage, bytes, 2 * static_cast<size_t>(count) * sizeof(Pair) + 16, stream,
                                 "cub::DeviceRadixSort", [=](unsigned char* memory) {
                                   // Pairs are copied whole: what lies between their members counts as written.
                                   for (size_t i = 0; i < 2 * static_cast<size_t>(count) * sizeof(Pair); i++)
                                     memory[i] = 0;
                                   Pair* const items = reinterpret_cast<Pair*>(memory);
                                   for (Count i = 0; i < count; i++) {
                                     items[i].key = in[i];
                                     if (values_in) items[i].value = values_in[i];
                                   }
                                   const auto below = [=](const Pair& a, const Pair& b) {
                                     return detail::radix_digits(a.key, begin_bit, end_bit, descending) <
                                            detail::radix_digits(b.key, begin_bit, end_bit, descending);
                                   };
                                   const Pair* const sorted = thrust::detail::merge_sort(
                                       items, items + count, static_cast<std::ptrdiff_t>(count), below);
                                   for (Count i = 0; i < count; i++) {
                                     out[i] = sorted[i].key;
                                     if (values_out) values_out[i] = sorted[i].value;
                                   }
                                 });
  }
};

}  // namespace cub
