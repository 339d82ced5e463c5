// Pitched memory and CUDA arrays of three dimensions.
#pragma once

#include "runtime_api.h"
#include "texture_types.h"

struct cudaMemcpy3DParms {
  cudaArray_t srcArray;  // or srcPtr
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;  // in elements if an array takes part, else the width in bytes
  cudaMemcpyKind kind;
};

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
inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                                     cudaStream_t stream = nullptr) {
  const auto set = [=] { return cudaMemset3D(pointer, value, extent); };
  return simt::do_or_capture(stream, set, cudaGraphNodeTypeMemset);
}

inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  cudaPitchedPtr to = copy->dstPtr, from = copy->srcPtr;
  size_t width = copy->extent.width;
  const auto from_place = [](const cudaPitchedPtr& pointer, const cudaPos& at) {
    return static_cast<char*>(pointer.ptr) + (at.z * pointer.ysize + at.y) * pointer.pitch + at.x;
  };
  if (!copy->dstArray) to.ptr = from_place(to, copy->dstPos);
  if (!copy->srcArray) from.ptr = from_place(from, copy->srcPos);
  for (const bool is_source : {false, true}) {
    const cudaArray_t array = is_source ? copy->srcArray : copy->dstArray;
    if (!array) continue;
    cudaPitchedPtr& slices = is_source ? from : to;
    const cudaError_t error = simt::array_slices(array, is_source ? copy->srcPos : copy->dstPos, copy->extent, &slices);
    if (error != cudaSuccess) return error;
    width = copy->extent.width * slices.xsize;
  }
  for (size_t slice = 0; slice < copy->extent.depth; slice++) {
    const cudaError_t error = cudaMemcpy2D(static_cast<char*>(to.ptr) + slice * to.ysize * to.pitch, to.pitch,
                                           static_cast<char*>(from.ptr) + slice * from.ysize * from.pitch, from.pitch,
                                           width, copy->extent.height, copy->kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
// The same between devices, whatever the device that is current.
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};
namespace simt {
inline cudaMemcpy3DParms between_devices(const cudaMemcpy3DPeerParms& copy) {
  return {copy.srcArray, copy.srcPos, copy.srcPtr, copy.dstArray,
          copy.dstPos,   copy.dstPtr, copy.extent, cudaMemcpyDeviceToDevice};
}
}  // namespace simt
inline cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
  const cudaMemcpy3DParms own = simt::between_devices(*copy);
  return cudaMemcpy3D(&own);
}

inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr) {
  const cudaMemcpy3DParms own = *copy;
  const cudaError_t error = simt::do_or_capture(
      stream, [own] { return cudaMemcpy3D(&own); }, cudaGraphNodeTypeMemcpy);
  return simt::after_copy(stream, own.dstArray ? nullptr : own.dstPtr.ptr, own.srcArray ? nullptr : own.srcPtr.ptr,
                          error);
}
inline cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream = nullptr) {
  const cudaMemcpy3DParms own = simt::between_devices(*copy);
  return cudaMemcpy3DAsync(&own, stream);
}
