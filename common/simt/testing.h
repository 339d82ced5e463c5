// What the executor's tests share.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as in Catch2 2
#else
#include <catch2/catch.hpp>
#endif

#include <cuda_runtime.h>

#include <vector>

// An array in device memory that is freed with its owner.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count, T value = T()) : count_(count) {
    REQUIRE(cudaMalloc(&data_, count * sizeof(T)) == cudaSuccess);
    const std::vector<T> initial(count, value);
    REQUIRE(cudaMemcpy(data_, initial.data(), count * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    REQUIRE(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return copy;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};
