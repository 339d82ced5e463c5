// cub::CachingDeviceAllocator: blocks that are freed are kept for later allocations of their size, a power of a base.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "../cuda_runtime.h"

namespace cub {

struct CachingDeviceAllocator {
  static constexpr unsigned INVALID_BIN = ~0u;
  static constexpr size_t INVALID_SIZE = ~size_t{0};

  CachingDeviceAllocator(unsigned growth = 8, unsigned smallest = 3, unsigned largest = 7,
                         size_t most_cached = (6u << 20) - 1, bool skip_cleanup = false, bool = false)
      : growth_(growth), smallest_(smallest), largest_(largest), most_(most_cached), skip_cleanup_(skip_cleanup) {}
  CachingDeviceAllocator(const CachingDeviceAllocator&) = delete;
  ~CachingDeviceAllocator() {
    if (!skip_cleanup_) FreeAllCached();
  }

  cudaError_t SetMaxCachedBytes(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    most_ = bytes;
    return cudaSuccess;
  }
  cudaError_t DeviceAllocate(void** pointer, size_t bytes, cudaStream_t stream = nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Block block{device(), size_of(bytes), stream};
    const auto kept = free_.find(key(block));
    if (kept != free_.end()) {
      *pointer = kept->second;
      cached_ -= block.bytes;
      free_.erase(kept);
    } else if (const cudaError_t error = cudaMalloc(pointer, block.bytes ? block.bytes : 1)) {
      return error;
    }
    live_[*pointer] = block;
    return cudaSuccess;
  }
  cudaError_t DeviceFree(void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(pointer);
    if (found == live_.end()) return cudaFree(pointer);
    const Block block = found->second;
    live_.erase(found);
    if (block.bytes > power(largest_) || cached_ + block.bytes > most_) return cudaFree(pointer);
    cached_ += block.bytes;
    free_.emplace(key(block), pointer);
    return cudaSuccess;
  }
  cudaError_t FreeAllCached() {
    const std::lock_guard<std::mutex> lock(mutex_);
    cudaError_t first = cudaSuccess;
    for (const auto& [where, pointer] : free_) {
      const cudaError_t error = cudaFree(pointer);
      if (!first) first = error;
    }
    free_.clear();
    cached_ = 0;
    return first;
  }

 private:
  struct Block {
    int device;
    size_t bytes;
    cudaStream_t stream;
  };
  using Key = std::tuple<int, size_t, cudaStream_t>;
  static Key key(const Block& block) { return {block.device, block.bytes, block.stream}; }
  static int device() {
    int current = 0;
    cudaGetDevice(&current);
    return current;
  }
  size_t power(unsigned exponent) const {
    size_t value = 1;
    for (unsigned i = 0; i < exponent; i++) value *= growth_;
    return value;
  }
  size_t size_of(size_t bytes) const {
    for (unsigned bin = smallest_; bin <= largest_; bin++) {
      if (bytes <= power(bin)) return power(bin);
    }
    return bytes;
  }

  unsigned growth_, smallest_, largest_;
  size_t most_, cached_ = 0;
  bool skip_cleanup_;
  std::mutex mutex_;
  std::map<void*, Block> live_;
  std::multimap<Key, void*> free_;
};

}  // namespace cub
