// Advice on managed memory, by page.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "device.h"
#include "devices.h"

using namespace simt;

namespace {

constexpr uintptr_t page = 4096;

struct Advice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId, prefetched = cudaInvalidDeviceId;
  std::set<int> accessed_by;
};

std::mutex mutex;
// From each address to the next.
std::map<uintptr_t, Advice>& advised() {
  static auto* const all = new std::map<uintptr_t, Advice>{{0, {}}};
  return *all;
}

uintptr_t first_page(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) / page * page; }
uintptr_t end_of_pages(const void* pointer, size_t bytes) {
  return (reinterpret_cast<uintptr_t>(pointer) + bytes + page - 1) / page * page;
}

// A range begins at this address.
std::map<uintptr_t, Advice>::iterator split(uintptr_t address) {
  const auto found = std::prev(advised().upper_bound(address));
  return found->first == address ? found : advised().emplace(address, found->second).first;
}

template <typename Change>
void change(const void* pointer, size_t bytes, const Change& change) {
  const std::lock_guard<std::mutex> lock(mutex);
  split(end_of_pages(pointer, bytes));
  const uintptr_t end = end_of_pages(pointer, bytes);
  for (auto each = split(first_page(pointer)); each->first < end; ++each) change(each->second);
}

// Device memory takes no advice. Memory of the host's own does, where a GPU shares its page tables.
cudaError_t test(const void* pointer, size_t bytes, const char* function) {
  cudaPointerAttributes attributes;
  if (!pointer || !bytes) return set_last_error(cudaErrorInvalidValue, function);
  cudaPointerGetAttributes(&attributes, pointer);
  if (attributes.type != cudaMemoryTypeDevice) return cudaSuccess;
  refuse_call(cudaErrorInvalidValue, std::string(function) +
                                         " refused: the memory is not managed\nIt comes from cudaMalloc, and stays on "
                                         "its device. cudaMallocManaged allocates memory whose pages move.");
  return set_last_error(cudaErrorInvalidValue, function);
}

bool is_place(int device) { return device == cudaCpuDeviceId || is_device(device); }
int place_of(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

}  // namespace

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  if (const cudaError_t error = test(pointer, bytes, "cudaMemAdvise")) return error;
  const bool of_place = advice >= cudaMemAdviseSetPreferredLocation && advice != cudaMemAdviseUnsetPreferredLocation;
  if (of_place && !is_place(device)) return set_last_error(cudaErrorInvalidDevice);
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
    return set_last_error(cudaErrorInvalidValue);
  change(pointer, bytes, [=](Advice& of_range) {
    switch (advice) {
      case cudaMemAdviseSetReadMostly: of_range.read_mostly = true; break;
      case cudaMemAdviseUnsetReadMostly: of_range.read_mostly = false; break;
      case cudaMemAdviseSetPreferredLocation: of_range.preferred = device; break;
      case cudaMemAdviseUnsetPreferredLocation: of_range.preferred = cudaInvalidDeviceId; break;
      case cudaMemAdviseSetAccessedBy: of_range.accessed_by.insert(device); break;
      case cudaMemAdviseUnsetAccessedBy: of_range.accessed_by.erase(device); break;
    }
  });
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t) {
  if (const cudaError_t error = test(pointer, bytes, "cudaMemPrefetchAsync")) return error;
  if (!is_place(device)) return set_last_error(cudaErrorInvalidDevice);
  change(pointer, bytes, [=](Advice& of_range) { of_range.prefetched = device; });
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, place_of(location));
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, place_of(location), stream);
}

cudaError_t cudaMemRangeGetAttribute(void* value, size_t value_bytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  if (!value || value_bytes < sizeof(int) || value_bytes % sizeof(int) || !pointer || !bytes)
    return set_last_error(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> lock(mutex);
  const uintptr_t end = end_of_pages(pointer, bytes);
  auto each = std::prev(advised().upper_bound(first_page(pointer)));
  Advice all = each->second;
  for (++each; each != advised().end() && each->first < end; ++each) {
    const Advice& next = each->second;
    all.read_mostly &= next.read_mostly;
    if (all.preferred != next.preferred) all.preferred = cudaInvalidDeviceId;
    if (all.prefetched != next.prefetched) all.prefetched = cudaInvalidDeviceId;
    for (auto device = all.accessed_by.begin(); device != all.accessed_by.end();)
      device = next.accessed_by.count(*device) ? std::next(device) : all.accessed_by.erase(device);
  }
  const auto type_of = [](int device) {
    return device == cudaInvalidDeviceId ? cudaMemLocationTypeInvalid
           : device == cudaCpuDeviceId   ? cudaMemLocationTypeHost
                                         : cudaMemLocationTypeDevice;
  };
  int* const numbers = static_cast<int*>(value);
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *numbers = all.read_mostly; break;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributePreferredLocationId: *numbers = all.preferred; break;
    case cudaMemRangeAttributeLastPrefetchLocation:
    case cudaMemRangeAttributeLastPrefetchLocationId: *numbers = all.prefetched; break;
    case cudaMemRangeAttributePreferredLocationType: *numbers = type_of(all.preferred); break;
    case cudaMemRangeAttributeLastPrefetchLocationType: *numbers = type_of(all.prefetched); break;
    case cudaMemRangeAttributeAccessedBy: {
      const size_t room = value_bytes / sizeof(int);
      std::fill_n(numbers, room, int{cudaInvalidDeviceId});
      size_t used = 0;
      for (const int device : all.accessed_by)
        if (used < room) numbers[used++] = device;
      break;
    }
    default: return set_last_error(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaMemRangeGetAttributes(void** values, size_t* value_bytes, cudaMemRangeAttribute* attributes,
                                      size_t attribute_count, const void* pointer, size_t bytes) {
  if (!values || !value_bytes || !attributes || !attribute_count) return set_last_error(cudaErrorInvalidValue);
  for (size_t i = 0; i < attribute_count; i++) {
    const cudaError_t error = cudaMemRangeGetAttribute(values[i], value_bytes[i], attributes[i], pointer, bytes);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

void simt::forget_advice(const void* pointer, size_t bytes) {
  if (advised().size() > 1) change(pointer, bytes, [](Advice& of_range) { of_range = {}; });
}
