// Pools of memory, as far as they are more than a name: whose an allocation is, and how much of a pool is used.
#include <algorithm>
#include <map>
#include <mutex>

#include "device.h"
#include "devices.h"
#include "graph_parts.h"

struct CUmemPoolHandle_st {
  int device = 0;
  bool is_default = false;
  size_t limit = 0;  // 0: none
  int reuse[3] = {1, 1, 1};
  uint64_t release_threshold = 0, used = 0, most_used = 0;
  std::map<int, cudaMemAccessFlags> access = {};  // of other devices
};

namespace {

struct Taken {
  cudaMemPool_t pool;
  size_t bytes;
};

struct Pools {
  std::mutex mutex;
  std::map<const void*, Taken> taken;
  std::map<int, cudaMemPool_t> defaults, current;
};
Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

cudaError_t find(cudaMemPool_t* pool, int device, bool current) {
  if (!pool) return simt::set_last_error(cudaErrorInvalidValue);
  if (device < 0 || device >= simt::device_count()) return simt::set_last_error(cudaErrorInvalidDevice);
  std::lock_guard<std::mutex> lock(pools().mutex);
  cudaMemPool_t& own = pools().defaults[device];
  if (!own) own = new CUmemPoolHandle_st{device, true};
  const cudaMemPool_t set = current ? pools().current[device] : nullptr;
  *pool = set ? set : own;
  return cudaSuccess;
}

}  // namespace

void simt::return_to_pool(const void* pointer) {
  std::lock_guard<std::mutex> lock(pools().mutex);
  const auto found = pools().taken.find(pointer);
  if (found == pools().taken.end()) return;
  if (found->second.pool) found->second.pool->used -= found->second.bytes;
  pools().taken.erase(found);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
      properties->location.type != cudaMemLocationTypeDevice)
    return simt::set_last_error(cudaErrorInvalidValue);
  if (properties->handleTypes != cudaMemHandleTypeNone) return simt::set_last_error(cudaErrorNotSupported);
  if (properties->location.id < 0 || properties->location.id >= simt::device_count())
    return simt::set_last_error(cudaErrorInvalidDevice);
  *pool = new CUmemPoolHandle_st{properties->location.id, false, properties->maxSize};
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (!pool || pool->is_default) return simt::set_last_error(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(pools().mutex);
  // What was allocated from it lives on.
  for (auto& [pointer, taken] : pools().taken)
    if (taken.pool == pool) taken.pool = nullptr;
  for (auto& [device, current] : pools().current)
    if (current == pool) current = nullptr;
  delete pool;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) { return find(pool, device, false); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return find(pool, device, true); }
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (!pool || pool->device != device) return simt::set_last_error(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(pools().mutex);
  pools().current[device] = pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!pool || !value) return simt::set_last_error(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(pools().mutex);
  if (attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies) {
    pool->reuse[attribute - 1] = *static_cast<const int*>(value);
    return cudaSuccess;
  }
  const uint64_t number = *static_cast<const uint64_t*>(value);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->release_threshold = number;
    return cudaSuccess;
  }
  // The high-water marks can be set back, to 0.
  if ((attribute != cudaMemPoolAttrReservedMemHigh && attribute != cudaMemPoolAttrUsedMemHigh) || number != 0)
    return simt::set_last_error(cudaErrorInvalidValue);
  pool->most_used = pool->used;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!pool || !value) return simt::set_last_error(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(pools().mutex);
  uint64_t number = 0;
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool->reuse[attribute - 1];
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: number = pool->release_threshold; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: number = pool->used; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: number = pool->most_used; break;
    default: return simt::set_last_error(cudaErrorInvalidValue);
  }
  *static_cast<uint64_t*>(value) = number;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, size_t count) {
  if (!pool || !accesses) return simt::set_last_error(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    const cudaMemLocation& place = accesses[i].location;
    if (place.type != cudaMemLocationTypeDevice) return simt::set_last_error(cudaErrorInvalidValue);
    if (!simt::is_device(place.id)) return simt::set_last_error(cudaErrorInvalidDevice);
    // A device always has access to its own pools.
    if (place.id == pool->device && accesses[i].flags != cudaMemAccessFlagsProtReadWrite)
      return simt::set_last_error(cudaErrorInvalidDevice);
  }
  std::lock_guard<std::mutex> lock(pools().mutex);
  for (size_t i = 0; i < count; i++) pool->access[accesses[i].location.id] = accesses[i].flags;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  if (!flags || !pool || !location || location->type != cudaMemLocationTypeDevice)
    return simt::set_last_error(cudaErrorInvalidValue);
  if (!simt::is_device(location->id)) return simt::set_last_error(cudaErrorInvalidDevice);
  std::lock_guard<std::mutex> lock(pools().mutex);
  const auto set = pool->access.find(location->id);
  *flags = location->id == pool->device ? cudaMemAccessFlagsProtReadWrite
           : set == pool->access.end()  ? cudaMemAccessFlagsProtNone
                                        : set->second;
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return pool ? cudaSuccess : simt::set_last_error(cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (!pointer || !pool) return simt::set_last_error(cudaErrorInvalidValue);
  if (simt::is_capturing(stream)) return simt::capture_allocation(stream, pointer, bytes);
  {
    std::lock_guard<std::mutex> lock(pools().mutex);
    if (pool->limit && pool->used + bytes > pool->limit) return simt::set_last_error(cudaErrorMemoryAllocation);
  }
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(pool->device);
  const cudaError_t error = cudaMalloc(pointer, bytes);
  cudaSetDevice(before);
  if (error != cudaSuccess) return error;
  std::lock_guard<std::mutex> lock(pools().mutex);
  pools().taken[*pointer] = {pool, bytes};
  pool->used += bytes;
  pool->most_used = std::max(pool->most_used, pool->used);
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  cudaMemPool_t pool = nullptr;
  if (const cudaError_t error = cudaDeviceGetMemPool(&pool, simt::current_device())) return error;
  return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
