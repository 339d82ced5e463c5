// A call of a library that the host computes: its copies from and to device memory, in order. After the first error
// there are no more. A count names the call with its bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "../counters/counters.h"

namespace simt {

class HostCall {
 public:
  explicit HostCall(const char* name) { call_.name = name; }

  // Numbers of one type in memory, of another here: float or double as double, int or int64_t as int64_t.
  template <typename Stored, typename T>
  std::vector<T> get(const void* data, size_t count) {
    std::vector<Stored> stored(count);
    copy(stored.data(), data, count * sizeof(Stored), cudaMemcpyDeviceToHost);
    read(data, count * sizeof(Stored));
    return std::vector<T>(stored.begin(), stored.end());
  }
  template <typename Stored, typename T>
  void put(void* data, const std::vector<T>& values) {
    const std::vector<Stored> stored(values.begin(), values.end());
    copy(data, stored.data(), stored.size() * sizeof(Stored), cudaMemcpyHostToDevice);
    call_.bytes_written += stored.size() * sizeof(Stored);
  }
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (!error_ && bytes) error_ = cudaMemcpy(to, from, bytes, kind);
  }
  void copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t lines,
               cudaMemcpyKind kind) {
    if (!error_ && width && lines) error_ = cudaMemcpy2D(to, to_pitch, from, from_pitch, width, lines, kind);
  }
  void read(const void* data, size_t bytes) {
    call_.bytes_read += bytes;
    if (counters::is_watched(data)) call_.watched_bytes_read += bytes;
  }
  void wrote(size_t bytes) { call_.bytes_written += bytes; }

  cudaError_t end() {
    if (!error_) counters::note_library_call(call_);
    return error_;
  }

 private:
  counters::LibraryCall call_;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace simt
