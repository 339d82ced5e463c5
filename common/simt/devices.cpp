#include "devices.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "device.h"
#include "device_queues.h"

namespace simt {

namespace {

int count = 1;
thread_local int chosen = 0;
std::atomic<bool> enabled[max_devices][max_devices];
std::atomic<uint64_t> bytes_over[max_devices][max_devices];

}  // namespace

int device_count() { return count; }

void use_devices_of_environment() {
  const char* const text = std::getenv("SIMT_DEVICES");
  if (!text) return;
  char* end;
  const long asked = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || asked < 1 || asked > max_devices) {
    std::fprintf(stderr, "simt: SIMT_DEVICES=%s is not a number of devices from 1 to %d\n", text, max_devices);
    std::_Exit(2);
  }
  count = static_cast<int>(asked);
}

int current_device() { return chosen; }
void set_current_device(int device) { chosen = device; }
bool is_device(int device) { return device >= 0 && device < count; }

bool may_access(int device, int owner) { return owner == no_device || owner == device || enabled[device][owner]; }

void count_link_bytes(int from, int to, size_t bytes) {
  if (from != to && from >= 0 && to >= 0) bytes_over[from][to].fetch_add(bytes, std::memory_order_relaxed);
}
uint64_t link_bytes(int from, int to) { return bytes_over[from][to]; }

}  // namespace simt

using namespace simt;

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return set_last_error(cudaErrorInvalidDevice);
  set_current_device(device);
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  if (!device) return set_last_error(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* devices) {
  if (!devices) return set_last_error(cudaErrorInvalidValue);
  *devices = device_count();
  return cudaSuccess;
}

// Every device reaches every other, as over NVLink.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return set_last_error(cudaErrorInvalidValue);
  if (!is_device(device) || !is_device(peer)) return set_last_error(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags) return set_last_error(cudaErrorInvalidValue);
  if (!is_device(peer) || peer == current_device()) return set_last_error(cudaErrorInvalidDevice);
  if (enabled[current_device()][peer].exchange(true)) return set_last_error(cudaErrorPeerAccessAlreadyEnabled);
  return cudaSuccess;
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (!is_device(peer)) return set_last_error(cudaErrorInvalidDevice);
  wait_for_device(current_device());
  if (peer == current_device() || !enabled[current_device()][peer].exchange(false))
    return set_last_error(cudaErrorPeerAccessNotEnabled);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  if (!value) return set_last_error(cudaErrorInvalidValue);
  if (!is_device(device) || !is_device(peer) || device == peer) return set_last_error(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; break;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported: *value = 1; break;
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = 0; break;
    default: return set_last_error(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
