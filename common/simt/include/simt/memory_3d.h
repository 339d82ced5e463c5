// Pitched memory of three dimensions: linear memory only. CUDA arrays have one or two (texture_types.h).
#pragma once

#include "runtime_api.h"
#include "texture_types.h"

// Width in bytes, height and depth in elements.
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;  // null, or it is refused
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
  return {pointer, pitch, width, height};
}

inline cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

inline cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  for (size_t slice = 0; slice < extent.depth; slice++) {
    void* const begin = static_cast<char*>(pointer.ptr) + slice * pointer.pitch * pointer.ysize;
    const cudaError_t error = cudaMemset2D(begin, pointer.pitch, value, extent.width, extent.height);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t = nullptr) {
  return cudaMemset3D(pointer, value, extent);
}

namespace simt {
cudaError_t refuse_3d_array();
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  if (copy->srcArray || copy->dstArray) return simt::refuse_3d_array();
  const auto slice_of = [](const cudaPitchedPtr& pointer, const cudaPos& at, size_t slice) {
    return static_cast<char*>(pointer.ptr) + ((at.z + slice) * pointer.ysize + at.y) * pointer.pitch + at.x;
  };
  for (size_t slice = 0; slice < copy->extent.depth; slice++) {
    const cudaError_t error = cudaMemcpy2D(slice_of(copy->dstPtr, copy->dstPos, slice), copy->dstPtr.pitch,
                                           slice_of(copy->srcPtr, copy->srcPos, slice), copy->srcPtr.pitch,
                                           copy->extent.width, copy->extent.height, copy->kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t = nullptr) {
  return cudaMemcpy3D(copy);
}
