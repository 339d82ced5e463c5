// cub::DeviceSegmentedRadixSort and DeviceSegmentedSort: each segment, from begins[s] up to ends[s], is sorted by
// itself. What lies in no segment stays as it was.
#pragma once

#include "device_radix_sort.cuh"

namespace cub {
namespace detail {

template <bool descending, typename Key, typename Value, typename Begins, typename Ends>
cudaError_t sort_segments(const char* name, void* storage, size_t& bytes, const Key* in, Key* out,
                          const Value* values_in, Value* values_out, long long items, long long segments, Begins begins,
                          Ends ends, int begin_bit, int end_bit, cudaStream_t stream) {
  return in_two_phases(storage, bytes, sort_bytes<Key, Value>(static_cast<size_t>(items)), stream, name,
                       [=, begins = bare(begins), ends = bare(ends)](unsigned char* memory) {
                         for (long long s = 0; s < segments; s++)
                           sort_range(memory, in, out, values_in, values_out, static_cast<long long>(begins[s]),
                                      static_cast<long long>(ends[s]), ByDigits<descending>{begin_bit, end_bit});
                       });
}

}  // namespace detail

// One of Sort and StableSort; Keys and Pairs; of arrays and DoubleBuffers, whose Current() is sorted. LIST: the bits.
#define SIMT_SEGMENTS(Class, name, descending, suffix, bits, begin_bit, end_bit)                                     \
  template <typename Key, typename Begins, typename Ends>                                                            \
  static cudaError_t name##Keys##suffix(void* storage, size_t& bytes, const Key* in, Key* out, long long items,      \
                                        long long segments, Begins begins, Ends ends SIMT_LIST bits,                 \
                                        cudaStream_t stream = nullptr) {                                             \
    const NullType* const none = nullptr;                                                                            \
    return detail::sort_segments<descending>("cub::" #Class, storage, bytes, in, out, none,                          \
                                             static_cast<NullType*>(nullptr), items, segments, begins, ends,         \
                                             begin_bit, end_bit, stream);                                            \
  }                                                                                                                  \
  template <typename Key, typename Begins, typename Ends>                                                            \
  static cudaError_t name##Keys##suffix(void* storage, size_t& bytes, DoubleBuffer<Key>& keys, long long items,      \
                                        long long segments, Begins begins, Ends ends SIMT_LIST bits,                 \
                                        cudaStream_t stream = nullptr) {                                             \
    const Key* const in = keys.Current();                                                                            \
    const NullType* const none = nullptr;                                                                            \
    return detail::sort_segments<descending>("cub::" #Class, storage, bytes, in, keys.Current(), none,               \
                                             static_cast<NullType*>(nullptr), items, segments, begins, ends,         \
                                             begin_bit, end_bit, stream);                                            \
  }                                                                                                                  \
  template <typename Key, typename Value, typename Begins, typename Ends>                                            \
  static cudaError_t name##Pairs##suffix(                                                                            \
      void* storage, size_t& bytes, const Key* in, Key* out, const Value* values_in, Value* values_out,              \
      long long items, long long segments, Begins begins, Ends ends SIMT_LIST bits, cudaStream_t stream = nullptr) { \
    return detail::sort_segments<descending>("cub::" #Class, storage, bytes, in, out, values_in, values_out, items,  \
                                             segments, begins, ends, begin_bit, end_bit, stream);                    \
  }                                                                                                                  \
  template <typename Key, typename Value, typename Begins, typename Ends>                                            \
  static cudaError_t name##Pairs##suffix(void* storage, size_t& bytes, DoubleBuffer<Key>& keys,                      \
                                         DoubleBuffer<Value>& values, long long items, long long segments,           \
                                         Begins begins, Ends ends SIMT_LIST bits, cudaStream_t stream = nullptr) {   \
    const Key* const in = keys.Current();                                                                            \
    const Value* const values_in = values.Current();                                                                 \
    return detail::sort_segments<descending>("cub::" #Class, storage, bytes, in, keys.Current(), values_in,          \
                                             values.Current(), items, segments, begins, ends, begin_bit, end_bit,    \
                                             stream);                                                                \
  }
#define SIMT_LIST(...) __VA_ARGS__
#define SIMT_BITS (, int begin_bit = 0, int end_bit = sizeof(Key) * 8)
#define SIMT_NO_BITS ()

struct DeviceSegmentedRadixSort {
  SIMT_SEGMENTS(DeviceSegmentedRadixSort, Sort, false, , SIMT_BITS, begin_bit, end_bit)
  SIMT_SEGMENTS(DeviceSegmentedRadixSort, Sort, true, Descending, SIMT_BITS, begin_bit, end_bit)
};
struct DeviceSegmentedSort {
  SIMT_SEGMENTS(DeviceSegmentedSort, Sort, false, , SIMT_NO_BITS, 0, sizeof(Key) * 8)
  SIMT_SEGMENTS(DeviceSegmentedSort, Sort, true, Descending, SIMT_NO_BITS, 0, sizeof(Key) * 8)
  SIMT_SEGMENTS(DeviceSegmentedSort, StableSort, false, , SIMT_NO_BITS, 0, sizeof(Key) * 8)
  SIMT_SEGMENTS(DeviceSegmentedSort, StableSort, true, Descending, SIMT_NO_BITS, 0, sizeof(Key) * 8)
};

#undef SIMT_NO_BITS
#undef SIMT_BITS
#undef SIMT_LIST
#undef SIMT_SEGMENTS

}  // namespace cub
