// What a stream is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>

struct CUstream_st {
  unsigned flags = 0;  // cudaStreamNonBlocking
  int device = 0;
  uint64_t last = 0;  // of what was given to it, the number in its device's queue
  unsigned long long id = 0;
  std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes = {};
};

namespace simt {

// No null stream, by whatever name.
inline bool is_named(cudaStream_t stream) {
  return stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

}  // namespace simt
