// Device memory and copies of the runtime API.
#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "checks/memory_events.h"
#include "device.h"
#include "device_queues.h"
#include "device_service.h"
#include "devices.h"
#include "graph_parts.h"
#include "refusal.h"

using simt::device;
using simt::set_last_error;
using simt::Sharing;

namespace {

cudaError_t allocate(void** pointer, size_t bytes, Sharing sharing, const char* function = __builtin_FUNCTION()) {
  if (!pointer) return set_last_error(cudaErrorInvalidValue, function);
  *pointer = nullptr;
  // A kernel may ask, too, and want the pointer in device memory.
  simt::checks::host_wrote(pointer, sizeof *pointer);
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

int owner_of(const void* pointer) { return simt::owner_of(reinterpret_cast<uintptr_t>(pointer)); }

// What a synchronous call waits for: all that was given to this device, and to those whose memory it touches.
cudaError_t wait_for_owners(const void* to, const void* from = nullptr) {
  if (!simt::runs_later()) return cudaSuccess;
  cudaError_t error = simt::wait_for_device(simt::current_device());
  for (const void* pointer : {to, from}) {
    const int owner = owner_of(pointer);
    if (owner == simt::no_device || owner == simt::current_device()) continue;
    if (const cudaError_t other = simt::wait_for_device(owner)) error = other;
  }
  return error;
}

// What the host allocates or registers beside device memory, by its beginning.
std::mutex kinds_mutex;
struct Kind {
  cudaMemoryType type;
  unsigned flags;  // of pinned memory
};
std::map<uintptr_t, Kind>& kinds() {
  static auto* const kinds = new std::map<uintptr_t, Kind>;
  return *kinds;
}
cudaError_t note_kind(const void* begin, Kind kind, cudaError_t error) {
  if (error != cudaSuccess) return error;
  const std::lock_guard<std::mutex> lock(kinds_mutex);
  kinds()[reinterpret_cast<uintptr_t>(begin)] = kind;
  return error;
}
cudaError_t forget_kind(const void* begin, cudaError_t error) {
  const std::lock_guard<std::mutex> lock(kinds_mutex);
  if (error == cudaSuccess) kinds().erase(reinterpret_cast<uintptr_t>(begin));
  return error;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes, Sharing::device_only); }
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  const cudaError_t error = allocate(pointer, bytes, Sharing::with_host);
  if (error != cudaSuccess) return error;
  simt::forget_advice(*pointer, bytes);
  return note_kind(*pointer, {cudaMemoryTypeManaged, 0}, error);
}
cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  if (const cudaError_t error = wait_for_owners(pointer)) return set_last_error(error);
  if (simt::free_of_graph(pointer)) return cudaSuccess;
  simt::return_to_pool(pointer);
  return forget_kind(pointer, set_last_error(device().free(pointer)));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return set_last_error(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (!to || !from) return set_last_error(cudaErrorInvalidValue);
  if (const cudaError_t error = wait_for_owners(to, from)) return set_last_error(error);
  return copied(device().copy(to, from, bytes, kind), bytes, to, from);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!pointer) return set_last_error(cudaErrorInvalidValue);
  if (const cudaError_t error = wait_for_owners(pointer)) return set_last_error(error);
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

namespace {

// Each device may be named for the memory that is its own, or that all share.
bool is_memory_of(int device, const void* pointer) {
  return simt::is_device(device) && (owner_of(pointer) == device || owner_of(pointer) == simt::no_device);
}

}  // namespace

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (!simt::is_device(to_device) || !simt::is_device(from_device)) return set_last_error(cudaErrorInvalidDevice);
  if (!is_memory_of(to_device, to) || !is_memory_of(from_device, from)) return set_last_error(cudaErrorInvalidValue);
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  if (!simt::is_device(to_device) || !simt::is_device(from_device)) return set_last_error(cudaErrorInvalidDevice);
  if (!is_memory_of(to_device, to) || !is_memory_of(from_device, from)) return set_last_error(cudaErrorInvalidValue);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

// Memory of the host that is not pinned is read and written before the call returns.
cudaError_t simt::after_copy(cudaStream_t stream, const void* to, const void* from, cudaError_t error) {
  if (error != cudaSuccess || !runs_later() || is_capturing(stream)) return error;
  Allocation found;
  Sharing sharing;
  if (device().find(to, &found, &sharing) && device().find(from, &found, &sharing)) return error;
  return set_last_error(wait_for_stream(stream), "cudaMemcpyAsync");
}

// Rows begin at multiples of this.
constexpr size_t pitch_unit = 512;

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width_bytes, size_t height) {
  *pitch = (width_bytes + pitch_unit - 1) / pitch_unit * pitch_unit;
  return cudaMalloc(pointer, *pitch * height);
}

// Kernels may use pinned memory of the host, too.
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned flags) {
  const cudaError_t error = allocate(pointer, bytes, Sharing::with_host);
  return error == cudaSuccess ? note_kind(*pointer, {cudaMemoryTypeHost, flags}, error) : error;
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  simt::Allocation allocation;
  Sharing sharing;
  if (!flags || !device().find(pointer, &allocation, &sharing)) return set_last_error(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> lock(kinds_mutex);
  const auto kind = kinds().find(allocation.begin);
  if (kind == kinds().end() || kind->second.type != cudaMemoryTypeHost) return set_last_error(cudaErrorInvalidValue);
  *flags = kind->second.flags;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  if (!pointer || !bytes) return set_last_error(cudaErrorInvalidValue);
  return note_kind(pointer, {cudaMemoryTypeHost, flags}, set_last_error(device().register_host(pointer, bytes)));
}
cudaError_t cudaHostUnregister(void* pointer) {
  return forget_kind(pointer, set_last_error(device().unregister_host(pointer)));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  simt::Allocation allocation;
  Sharing sharing;
  if (device().find(pointer, &allocation, &sharing)) {
    const std::lock_guard<std::mutex> lock(kinds_mutex);
    const auto kind = kinds().find(allocation.begin);
    *attributes = {kind == kinds().end() ? cudaMemoryTypeDevice : kind->second.type, std::max(0, owner_of(pointer)),
                   const_cast<void*>(pointer), const_cast<void*>(pointer)};
  } else {
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(pointer)};
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  *total_bytes = properties.totalGlobalMem;
  const size_t used =
      simt::has_several_devices() ? simt::allocated_bytes_of(simt::current_device()) : device().allocated_bytes();
  *free_bytes = *total_bytes - min(used, *total_bytes);
  return cudaSuccess;
}
