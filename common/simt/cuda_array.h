// CUDA arrays, as the executor keeps them: rows of device memory. textures.cpp makes them, surfaces.cpp writes to them.
#pragma once

#include <algorithm>
#include <string>

#include "include/simt/texture_types.h"

struct cudaArray {
  cudaChannelFormatDesc format;
  char* data;
  size_t pitch, width, height,
      depth;  // in elements; height 0: one dimension; depth: of layers, too, 0 if there are none
  unsigned flags;

  size_t rows() const { return std::max<size_t>(height, 1); }
  size_t slices() const { return std::max<size_t>(depth, 1); }
};

namespace simt {

inline int channels_of(const cudaChannelFormatDesc& format) {
  return 1 + (format.y > 0) + (format.z > 0) + (format.w > 0);
}
inline size_t bytes_of(const cudaChannelFormatDesc& format) {
  return static_cast<size_t>(format.x / 8 * channels_of(format));
}

// Remembers why, and returns the error.
cudaError_t refuse_array(cudaError_t error, const std::string& what, const char* function = __builtin_FUNCTION());

}  // namespace simt
