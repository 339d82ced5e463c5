// thrust::universal_vector: a vector in managed memory, whose iterators are pointers. An algorithm that is given only
// such iterators, and no policy, runs on the host here; its results are the same.
#pragma once

#include "host_vector.h"

namespace thrust {
namespace detail {

template <typename T, cudaError_t (*take)(void**, size_t), cudaError_t (*give_back)(void*)>
struct AllocatorBy {
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = AllocatorBy<U, take, give_back>;
  };
  AllocatorBy() = default;
  template <typename U>
  AllocatorBy(const AllocatorBy<U, take, give_back>&) {}
  T* allocate(size_t count) {
    void* items = nullptr;
    expect(take(&items, count * sizeof(T)), "thrust::universal_vector");
    return static_cast<T*>(items);
  }
  void deallocate(T* items, size_t) { give_back(items); }
  friend bool operator==(const AllocatorBy&, const AllocatorBy&) { return true; }
  friend bool operator!=(const AllocatorBy&, const AllocatorBy&) { return false; }
};

inline cudaError_t take_managed(void** pointer, size_t bytes) {
  return cudaMallocManaged(pointer, bytes, cudaMemAttachGlobal);
}
inline cudaError_t take_pinned(void** pointer, size_t bytes) { return cudaMallocHost(pointer, bytes, 0); }

}  // namespace detail

template <typename T>
using universal_allocator = detail::AllocatorBy<T, detail::take_managed, cudaFree>;
template <typename T>
using universal_vector = host_vector<T, universal_allocator<T>>;
template <typename T>
using universal_host_pinned_vector = host_vector<T, detail::AllocatorBy<T, detail::take_pinned, cudaFreeHost>>;

}  // namespace thrust
