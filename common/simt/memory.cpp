// Device memory, copies, streams and events of the runtime API.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <mutex>

#include "checks/memory_events.h"
#include "device.h"
#include "memory.h"

namespace {

using simt::set_last_error;

std::mutex mutex;

// Every allocation that has not been freed: address -> bytes.
std::map<void*, size_t>& allocations() {
  static auto* map = new std::map<void*, size_t>;
  return *map;
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

namespace simt {

std::vector<Allocation> live_allocations() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Allocation> list;
  for (const auto& [address, bytes] : allocations()) list.push_back({reinterpret_cast<uintptr_t>(address), bytes});
  return list;
}

namespace {

bool guarding = false;
int open_depth = 0;  // how many kernels and copies are under way

// Allocations that are pages of their own, so that they can be closed: address -> bytes. Managed memory leaves it open.
struct Pages {
  size_t bytes;
  bool closable;
};
std::map<uintptr_t, Pages>& pages() {
  static auto* map = new std::map<uintptr_t, Pages>;
  return *map;
}

// Nothing else lies so near to such an allocation, and a kernel that misses it by less does not crash before the checks
// have said so.
constexpr size_t margin = size_t{8} << 20;

void protect(uintptr_t begin, const Pages& range, int protection) {
  mprotect(reinterpret_cast<char*>(begin) - margin, margin + range.bytes + margin, protection);
}

void protect_all(int protection) {
  for (const auto& [begin, range] : pages()) {
    if (range.closable) protect(begin, range, protection);
  }
}

// Open until it is closed.
void* map_pages(size_t bytes) {
  bytes = round_up(bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  void* all = mmap(nullptr, margin + bytes + margin, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  void* memory = static_cast<char*>(all) + margin;
  std::lock_guard<std::mutex> lock(mutex);
  pages()[reinterpret_cast<uintptr_t>(memory)] = {bytes, true};
  return memory;
}

// False if it is no such memory. Called with the lock.
bool unmap_pages(void* memory) {
  const auto found = pages().find(reinterpret_cast<uintptr_t>(memory));
  if (found == pages().end()) return false;
  munmap(static_cast<char*>(memory) - margin, margin + found->second.bytes + margin);
  pages().erase(found);
  return true;
}

void leave_open(void* memory) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = pages().find(reinterpret_cast<uintptr_t>(memory));
  if (found == pages().end()) return;
  found->second.closable = false;
  protect(found->first, found->second, PROT_READ | PROT_WRITE);
}

}  // namespace

void guard_device_memory(bool on) {
  std::lock_guard<std::mutex> lock(mutex);
  guarding = on;
  if (open_depth == 0) protect_all(on ? PROT_NONE : PROT_READ | PROT_WRITE);
}

// Without the lock: it is asked when a fault is being reported.
bool is_guarded(uintptr_t address) {
  auto after = pages().upper_bound(address);
  if (!guarding || after == pages().begin()) return false;
  const auto& [begin, range] = *std::prev(after);
  return range.closable && address - begin < range.bytes;
}

DeviceMemoryOpen::DeviceMemoryOpen() {
  if (!guarding) return;
  std::lock_guard<std::mutex> lock(mutex);
  if (open_depth++ == 0) protect_all(PROT_READ | PROT_WRITE);
}
DeviceMemoryOpen::~DeviceMemoryOpen() {
  if (!guarding) return;
  std::lock_guard<std::mutex> lock(mutex);
  if (--open_depth == 0) protect_all(PROT_NONE);
}

}  // namespace simt

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  if (!pointer) return set_last_error(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const bool absurd = bytes >= size_t{1} << 40;
  void* memory = absurd           ? nullptr
                 : simt::guarding ? simt::map_pages(bytes)
                                  : std::aligned_alloc(256, round_up(bytes, 256));
  if (!memory) return set_last_error(cudaErrorMemoryAllocation);
  const simt::DeviceMemoryOpen open;
  std::memset(memory, 0xFF, bytes);
  simt::checks::allocated(memory, bytes);
  std::lock_guard<std::mutex> lock(mutex);
  allocations()[memory] = bytes;
  *pointer = memory;
  return cudaSuccess;
}

// The host writes it as it likes, which nobody sees: initcheck takes all of it for written.
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  const cudaError_t error = cudaMalloc(pointer, bytes);
  if (error != cudaSuccess || bytes == 0) return error;
  simt::leave_open(*pointer);
  simt::checks::host_wrote(*pointer, bytes);
  return error;
}

cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = allocations().find(pointer);
    if (found == allocations().end()) return set_last_error(cudaErrorInvalidValue);
    simt::checks::freed(pointer, found->second);
    allocations().erase(found);
    if (simt::unmap_pages(pointer)) return cudaSuccess;
  }
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return set_last_error(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (!to || !from) return set_last_error(cudaErrorInvalidValue);
  const simt::DeviceMemoryOpen open;
  std::memmove(to, from, bytes);
  simt::checks::host_wrote(to, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!pointer) return set_last_error(cudaErrorInvalidValue);
  const simt::DeviceMemoryOpen open;
  std::memset(pointer, value, bytes);
  simt::checks::host_wrote(pointer, bytes);
  return cudaSuccess;
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

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width_bytes, size_t height) {
  *pitch = round_up(width_bytes, 512);
  return cudaMalloc(pointer, *pitch * height);
}

// Kernels may use pinned memory of the host, too, so it is device memory.
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned) { return cudaMallocManaged(pointer, bytes, 0); }
cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  if (!pointer || !bytes) return set_last_error(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(mutex);
  if (!allocations().emplace(pointer, bytes).second) return set_last_error(cudaErrorHostMemoryAlreadyRegistered);
  simt::checks::allocated(pointer, bytes);
  simt::checks::host_wrote(pointer, bytes);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations().find(pointer);
  if (found == allocations().end()) return set_last_error(cudaErrorHostMemoryNotRegistered);
  simt::checks::freed(pointer, found->second);
  allocations().erase(found);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(pointer)};
  std::lock_guard<std::mutex> lock(mutex);
  auto after = allocations().upper_bound(const_cast<void*>(pointer));
  if (after == allocations().begin()) return cudaSuccess;
  const auto& [begin, bytes] = *std::prev(after);
  if (static_cast<const char*>(pointer) >= static_cast<const char*>(begin) + bytes) return cudaSuccess;
  *attributes = {cudaMemoryTypeDevice, 0, const_cast<void*>(pointer), const_cast<void*>(pointer)};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  *total_bytes = properties.totalGlobalMem;
  *free_bytes = properties.totalGlobalMem;
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [address, bytes] : allocations()) *free_bytes -= min(bytes, *free_bytes);
  return cudaSuccess;
}

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
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
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (!start || !stop || !start->recorded || !stop->recorded) return set_last_error(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return cudaSuccess;
}
