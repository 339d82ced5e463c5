#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "device_limits.h"
#include "device_service.h"
#include "devices.h"
#include "instrument/recorder.h"
#include "launch_bounds.h"
#include "launch_state.h"
#include "module_symbols.h"
#include "refusal.h"
#include "simt.h"

namespace simt {

namespace {

thread_local cudaError_t last_error = cudaSuccess;

// Where a time is predicted from a part of the rows (common/bench/predict.py), a rung sees that part of a GPU, so that
// one that chooses by rows per multiprocessor chooses as it would for all rows.
int visible_multiprocessors() {
  try {
    return max(1, multiprocessors / static_cast<int>(gpu_times()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simt: %s\n", error.what());
    std::exit(2);
  }
}

}  // namespace

unsigned gpu_times() {
  const char* const text = std::getenv("SIMT_GPU_TIMES");
  if (!text) return 1;
  char* end;
  const long times = std::strtol(text, &end, 10);
  if (end == text || *end || times < 1 || times > 1'000'000)
    throw std::runtime_error(std::string("SIMT_GPU_TIMES is '") + text +
                             "'; it must be a whole number from 1 to 1000000");
  return static_cast<unsigned>(times);
}

cudaError_t set_last_error(cudaError_t error, const char* function) {
  if (error == cudaSuccess) return error;
  last_error = error;
  const bool is_call = std::strncmp(function, "cuda", 4) == 0;
  refuse_call(error, (is_call ? function : "a call of CUDA's") + std::string(" returned it"));
  return error;
}

cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* function) {
  *attributes = {};
  attributes->maxThreadsPerBlock = threads_allowed(function);
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->sharedSizeBytes = static_shared_bytes(function);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(function));
  return cudaSuccess;
}

// By threads, blocks and shared memory. Registers are not known.
cudaError_t occupancy(int* blocks, const void* function, int block_threads, size_t dynamic_shared_bytes) {
  *blocks = 0;
  if (block_threads <= 0) return set_last_error(cudaErrorInvalidValue);
  if (block_threads > threads_per_block) return cudaSuccess;
  const int warps = (block_threads + warpSize - 1) / warpSize;
  const int by_threads = threads_per_multiprocessor / (warps * warpSize);
  const size_t shared_bytes = static_shared_bytes(function) + dynamic_shared_bytes + reserved_shared_bytes;
  const int by_shared = static_cast<int>(shared_bytes_per_multiprocessor / shared_bytes);
  *blocks = min(min(by_threads, by_shared), blocks_per_multiprocessor);
  return cudaSuccess;
}

cudaError_t available_shared_bytes(size_t* bytes, const void* function, int blocks, int block_threads) {
  int most = 0;
  if (!bytes || blocks <= 0) return set_last_error(cudaErrorInvalidValue);
  if (const cudaError_t error = occupancy(&most, function, block_threads, 0)) return error;
  if (blocks > most) return set_last_error(cudaErrorInvalidValue);
  const size_t each = shared_bytes_per_multiprocessor / static_cast<size_t>(blocks) / 128 * 128;  // as it is given out
  const size_t taken = reserved_shared_bytes + static_shared_bytes(function);
  *bytes = each > taken ? min(each - taken, shared_limit(function)) : 0;
  return cudaSuccess;
}

}  // namespace simt

// By the time at which another thread does something, it can tell a number.
long long simt::clock_ticks() noexcept {
  note_received(sizeof(long long));
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

char* simt::symbol_address(const volatile void* variable) {
  return static_cast<char*>(device().symbol(const_cast<void*>(variable)));
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = simt::last_error;
  simt::last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return simt::last_error; }

// As the programming guide has them of compute capability 9.0.
static void set_texture_limits(cudaDeviceProp* p) {
  p->maxTexture1D = 131072;
  p->maxTexture1DLinear = 1 << 28;
  p->maxTexture2D[0] = p->maxSurface2D[0] = 131072;
  p->maxTexture2D[1] = p->maxSurface2D[1] = 65536;
  p->maxTexture2DLinear[0] = 131072;
  p->maxTexture2DLinear[1] = 65000;
  p->maxTexture2DLinear[2] = 2097120;  // bytes of pitch
  for (int i = 0; i < 3; i++) p->maxTexture3D[i] = p->maxSurface3D[i] = 16384;
  p->maxTexture1DLayered[0] = p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = 32768;
  p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = 2048;
  for (int i = 0; i < 3; i++) p->maxTexture3DAlt[i] = 16384;
  p->maxSurface1D = p->maxSurface1DLayered[0] = p->maxSurface2DLayered[0] = p->maxSurface2DLayered[1] = 32768;
  p->maxSurface1DLayered[1] = p->maxSurface2DLayered[2] = 2048;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!simt::is_device(device)) return simt::set_last_error(cudaErrorInvalidDevice);
  cudaDeviceProp p = {};
  std::snprintf(p.name, sizeof p.name, "SIMT executor on the CPU, modelled on an H200");
  p.totalGlobalMem = size_t{4} << 30;
  p.sharedMemPerBlock = simt::default_shared_bytes;
  p.sharedMemPerBlockOptin = simt::max_shared_bytes;
  p.sharedMemPerMultiprocessor = simt::shared_bytes_per_multiprocessor;
  p.reservedSharedMemPerBlock = simt::reserved_shared_bytes;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = warpSize;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = simt::threads_per_block;
  p.maxThreadsDim[2] = simt::max_block_z;
  p.maxGridSize[0] = simt::max_grid_x;
  p.maxGridSize[1] = p.maxGridSize[2] = simt::max_grid_yz;
  p.major = 9;
  p.minor = 0;
  p.multiProcessorCount = simt::visible_multiprocessors();
  p.maxThreadsPerMultiProcessor = simt::threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = simt::blocks_per_multiprocessor;
  p.l2CacheSize = simt::l2_bytes;
  p.clockRate = 1980000;
  p.memoryClockRate = 3201000;
  p.memoryBusWidth = 6016;
  p.totalConstMem = 65536;
  p.pciBusID = device;
  std::memcpy(p.uuid.bytes, "SIMT executor", 13);
  p.uuid.bytes[15] = static_cast<char>(device);
  p.asyncEngineCount = 3;
  p.deviceOverlap = p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.concurrentManagedAccess = p.computePreemptionSupported = p.canUseHostPointerForRegisteredMem = 1;
  p.hostRegisterSupported = p.memoryPoolsSupported = p.clusterLaunch = p.unifiedFunctionPointers = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.memPitch = 2147483647;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  set_texture_limits(&p);
  p.cooperativeLaunch = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.canMapHostMemory = 1;
  *properties = p;
  return cudaSuccess;
}

cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
// The limits that CUDA starts with; what a program sets changes nothing here.
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  switch (limit) {
    case cudaLimitStackSize: *value = 1024; break;
    case cudaLimitPrintfFifoSize:
    case cudaLimitMallocHeapSize: *value = size_t{8} << 20; break;
    case cudaLimitMaxL2FetchGranularity: *value = 64; break;
    case cudaLimitPersistingL2CacheSize: *value = 0; break;
    default: return simt::set_last_error(cudaErrorUnsupportedLimit);
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  if (bytes < 13) return simt::set_last_error(cudaErrorInvalidValue);
  if (!simt::is_device(device)) return simt::set_last_error(cudaErrorInvalidDevice);
  std::snprintf(id, static_cast<size_t>(bytes), "0000:%02X:00.0", static_cast<unsigned>(device));
  return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  if (!device || !id) return simt::set_last_error(cudaErrorInvalidValue);
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) < 2) return simt::set_last_error(cudaErrorInvalidValue);
  if (domain || !simt::is_device(static_cast<int>(bus))) return simt::set_last_error(cudaErrorInvalidDevice);
  *device = static_cast<int>(bus);
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return simt::is_device(device) ? cudaSuccess : simt::set_last_error(cudaErrorInvalidDevice);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
