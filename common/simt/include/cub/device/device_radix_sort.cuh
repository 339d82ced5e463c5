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

namespace detail {

// As merge_sort asks it: whether key a comes before key b.
template <bool descending>
struct ByDigits {
  int begin_bit, end_bit;
  template <typename Key>
  bool operator()(const Key& a, const Key& b) const {
    return radix_digits(a, begin_bit, end_bit, descending) < radix_digits(b, begin_bit, end_bit, descending);
  }
};
template <typename Key, typename Value>
struct KeyAndValue {
  Key key;
  Value value;
};
template <typename Key, typename Value>
size_t sort_bytes(size_t count) {
  return 2 * count * sizeof(KeyAndValue<Key, Value>) + 16;
}
// Sorts what is from `first` up to `last`, through `memory`. values_in: null for none.
template <typename In, typename Out, typename ValuesIn, typename ValuesOut, typename Count, typename Less>
void sort_range(unsigned char* memory, const In& in, const Out& out, const ValuesIn& values_in,
                const ValuesOut& values_out, Count first, Count last, Less below) {
  if (first >= last) return;
  using Pair = KeyAndValue<ValueOf<In>, ValueOf<ValuesIn>>;
  constexpr bool has_values = !std::is_same<ValueOf<ValuesIn>, NullType>::value;
  const Count count = last - first;
  // Pairs are copied whole: what lies between their members counts as written.
  for (size_t i = 0; i < 2 * static_cast<size_t>(count) * sizeof(Pair); i++) memory[i] = 0;
  Pair* const items = reinterpret_cast<Pair*>(memory);
  for (Count i = 0; i < count; i++) {
    items[i].key = in[first + i];
    if constexpr (has_values) items[i].value = values_in[first + i];
  }
  auto pairs = [&](const Pair& a, const Pair& b) { return static_cast<bool>(below(a.key, b.key)); };
  const Pair* const sorted =
      thrust::detail::merge_sort(items, items + count, static_cast<std::ptrdiff_t>(count), pairs);
  for (Count i = 0; i < count; i++) {
    out[first + i] = sorted[i].key;
    if constexpr (has_values) values_out[first + i] = sorted[i].value;
  }
}

}  // namespace detail

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
    return detail::in_two_phases(storage, bytes, detail::sort_bytes<Key, Value>(static_cast<size_t>(count)), stream,
                                 "cub::DeviceRadixSort", [=](unsigned char* memory) {
                                   detail::sort_range(memory, in, out, values_in, values_out, Count{}, count,
                                                      detail::ByDigits<descending>{begin_bit, end_bit});
                                 });
  }
};

}  // namespace cub
