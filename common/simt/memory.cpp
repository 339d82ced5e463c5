// Device memory, copies, streams and events of the runtime API.
#include <cuda_runtime.h>

#include <chrono>
#include <string>

#include "device.h"
#include "device_service.h"
#include "refusal.h"
#include "timing/predictor.h"

using simt::device;
using simt::set_last_error;
using simt::Sharing;

namespace {

cudaError_t allocate(void** pointer, size_t bytes, Sharing sharing, const char* function = __builtin_FUNCTION()) {
  if (!pointer) return set_last_error(cudaErrorInvalidValue, function);
  *pointer = nullptr;
  return bytes ? set_last_error(device().allocate(pointer, bytes, sharing), function) : cudaSuccess;
}

// The error of a copy, remembered with the reason: most often it runs past the end of an allocation.
cudaError_t copied(cudaError_t error, size_t bytes, const void* to, const void* from = nullptr,
                   const char* function = __builtin_FUNCTION()) {
  set_last_error(error, function);
  if (error != cudaErrorInvalidValue) return error;
  for (const void* pointer : {to, from}) {
    simt::Allocation found;
    Sharing sharing;
    if (!pointer || !device().find(pointer, &found, &sharing)) continue;
    const size_t left = found.bytes - (reinterpret_cast<uintptr_t>(pointer) - found.begin);
    if (bytes > left) {
      simt::refuse_call(error, std::string(function) + " refused: it runs past the end of an allocation\nIt asks for " +
                                   std::to_string(bytes) + " bytes, and from its pointer on the allocation has " +
                                   std::to_string(left) +
                                   ". Is a count of elements taken for one of bytes, or the other way round?");
      break;
    }
  }
  return error;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes, Sharing::device_only); }
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, Sharing::with_host);
}
cudaError_t cudaFree(void* pointer) { return pointer ? set_last_error(device().free(pointer)) : cudaSuccess; }

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return set_last_error(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (!to || !from) return set_last_error(cudaErrorInvalidValue);
  return copied(device().copy(to, from, bytes, kind), bytes, to, from);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!pointer) return set_last_error(cudaErrorInvalidValue);
  return copied(device().set(pointer, value, bytes), bytes, pointer);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width_bytes,
                         size_t height, cudaMemcpyKind kind) {
  if (width_bytes > to_pitch || width_bytes > from_pitch) return set_last_error(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; row++) {
    const cudaError_t error = cudaMemcpy(static_cast<char*>(to) + row * to_pitch,
                                         static_cast<const char*>(from) + row * from_pitch, width_bytes, kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// Rows begin at multiples of this.
constexpr size_t pitch_unit = 512;

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width_bytes, size_t height) {
  *pitch = (width_bytes + pitch_unit - 1) / pitch_unit * pitch_unit;
  return cudaMalloc(pointer, *pitch * height);
}

// Kernels may use pinned memory of the host, too.
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, Sharing::with_host);
}
cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  if (!pointer || !bytes) return set_last_error(cudaErrorInvalidValue);
  return set_last_error(device().register_host(pointer, bytes));
}
cudaError_t cudaHostUnregister(void* pointer) { return set_last_error(device().unregister_host(pointer)); }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  simt::Allocation allocation;
  Sharing sharing;
  if (device().find(pointer, &allocation, &sharing))
    *attributes = {cudaMemoryTypeDevice, 0, const_cast<void*>(pointer), const_cast<void*>(pointer)};
  else
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(pointer)};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  *total_bytes = properties.totalGlobalMem;
  *free_bytes = *total_bytes - min(device().allocated_bytes(), *total_bytes);
  return cudaSuccess;
}

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
  simt::timing::Clock predicted;
};

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (!event) return set_last_error(cudaErrorInvalidResourceHandle);
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  event->predicted = simt::timing::predicted_clock();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (!start || !stop || !start->recorded || !stop->recorded) return set_last_error(cudaErrorInvalidResourceHandle);
  const double predicted = simt::timing::predicted_between(start->predicted, stop->predicted);
  *milliseconds = predicted >= 0 ? static_cast<float>(predicted * 1e3)
                                 : std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return cudaSuccess;
}
