// The driver API without modules: devices, contexts, memory, streams and events are the runtime's under other names.
// Kernels come from the compiler, so there is nothing to load: cuModule..., cuLaunchKernel and the like are refused.
// Virtual memory management is not supported, as the device's attribute says.
#pragma once

#include "../cuda_runtime.h"
#include "driver_attributes.h"
#include "driver_names.h"

enum CUresult {
#define SIMT_RUNTIME_ERROR(name, value, description)
#define SIMT_ERROR(runtimes, name, value, description) name = value,
#define SIMT_DRIVER_ERROR(name, value) name = value,
#include "errors.inc"
};
CUresult cuGetErrorName(CUresult error, const char** name);
CUresult cuGetErrorString(CUresult error, const char** text);

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUhostFn = cudaHostFn_t;
struct CUctx_st {
  CUdevice device;
};
using CUcontext = CUctx_st*;
enum CUctx_flags {
  CU_CTX_SCHED_AUTO = 0,
  CU_CTX_SCHED_SPIN = 1,
  CU_CTX_SCHED_YIELD = 2,
  CU_CTX_SCHED_BLOCKING_SYNC = 4,
  CU_CTX_MAP_HOST = 8,
  CU_CTX_LMEM_RESIZE_TO_MAX = 16
};
enum CUcomputemode { CU_COMPUTEMODE_DEFAULT, CU_COMPUTEMODE_PROHIBITED = 2, CU_COMPUTEMODE_EXCLUSIVE_PROCESS };
enum CUstream_flags { CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING };
enum CUevent_flags { CU_EVENT_DEFAULT, CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS = 4 };
enum CUmemAttach_flags { CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4 };
constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEMHOSTALLOC_WRITECOMBINED = 4,
                   CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2;
#define CU_STREAM_LEGACY cudaStreamLegacy
#define CU_STREAM_PER_THREAD cudaStreamPerThread

namespace simt {

inline CUresult driver_error(cudaError_t error) { return static_cast<CUresult>(error); }
template <typename T = void>
T* driver_pointer(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);
}
// A device's only context.
CUcontext context_of(CUdevice device);
CUresult push_context(CUcontext context);
CUresult pop_context(CUcontext* context);
// Each of `count` elements of a size of 1, 2 or 4 bytes gets the value.
CUresult set_elements(CUdeviceptr to, unsigned value, unsigned bytes, size_t count, CUstream stream);

}  // namespace simt

inline CUresult cuInit(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
inline CUresult cuDriverGetVersion(int* version) { return simt::driver_error(cudaDriverGetVersion(version)); }

// Devices.
inline CUresult cuDeviceGetCount(int* count) { return simt::driver_error(cudaGetDeviceCount(count)); }
CUresult cuDeviceGet(CUdevice* device, int number);
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
inline CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  return simt::driver_error(cudaDeviceGetPCIBusId(id, bytes, device));
}
inline CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return simt::driver_error(cudaDeviceCanAccessPeer(can, device, peer));
}

// Contexts.
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
inline CUresult cuCtxDestroy(CUcontext context) {
  return context ? simt::driver_error(cudaDeviceSynchronize()) : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
inline CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
inline CUresult cuDevicePrimaryCtxReset(CUdevice) { return simt::driver_error(cudaDeviceReset()); }
CUresult cuCtxGetCurrent(CUcontext* context);
inline CUresult cuCtxSetCurrent(CUcontext context) {
  return context ? simt::driver_error(cudaSetDevice(context->device)) : CUDA_SUCCESS;
}
inline CUresult cuCtxPushCurrent(CUcontext context) { return simt::push_context(context); }
inline CUresult cuCtxPopCurrent(CUcontext* context) { return simt::pop_context(context); }
inline CUresult cuCtxGetDevice(CUdevice* device) { return simt::driver_error(cudaGetDevice(device)); }
inline CUresult cuCtxSynchronize() { return simt::driver_error(cudaDeviceSynchronize()); }
inline CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return peer ? simt::driver_error(cudaDeviceEnablePeerAccess(peer->device, flags)) : CUDA_ERROR_INVALID_CONTEXT;
}

// Memory.
inline CUresult cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return simt::driver_error(cudaMemGetInfo(free_bytes, total_bytes));
}
CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes);
CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned flags);
CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width_bytes, size_t height, unsigned element);
inline CUresult cuMemFree(CUdeviceptr pointer) { return simt::driver_error(cudaFree(simt::driver_pointer(pointer))); }
inline CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream) { return cuMemAlloc(pointer, bytes); }
inline CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return simt::driver_error(cudaFreeAsync(simt::driver_pointer(pointer), stream));
}
inline CUresult cuMemAllocHost(void** pointer, size_t bytes) {
  return simt::driver_error(cudaMallocHost(pointer, bytes));
}
inline CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned) { return cuMemAllocHost(pointer, bytes); }
inline CUresult cuMemFreeHost(void* pointer) { return simt::driver_error(cudaFreeHost(pointer)); }
inline CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned) {
  *device = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
inline CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return simt::driver_error(cudaHostRegister(pointer, bytes, flags));
}
inline CUresult cuMemHostUnregister(void* pointer) { return simt::driver_error(cudaHostUnregister(pointer)); }

inline CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return simt::driver_error(cudaMemcpyAsync(simt::driver_pointer(to), simt::driver_pointer<const void>(from), bytes,
                                            cudaMemcpyDefault, stream));
}
inline CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return simt::driver_error(
      cudaMemcpy(simt::driver_pointer(to), simt::driver_pointer<const void>(from), bytes, cudaMemcpyDefault));
}
#define SIMT_DRIVER_COPY(name, To, to, From, from, kind)                                       \
  inline CUresult name(To target, From source, size_t bytes) {                                 \
    return simt::driver_error(cudaMemcpy(to(target), from(source), bytes, kind));              \
  }                                                                                            \
  inline CUresult name##Async(To target, From source, size_t bytes, CUstream stream) {         \
    return simt::driver_error(cudaMemcpyAsync(to(target), from(source), bytes, kind, stream)); \
  }
SIMT_DRIVER_COPY(cuMemcpyHtoD, CUdeviceptr, simt::driver_pointer, const void*, , cudaMemcpyHostToDevice)
SIMT_DRIVER_COPY(cuMemcpyDtoH, void*, , CUdeviceptr, simt::driver_pointer, cudaMemcpyDeviceToHost)
SIMT_DRIVER_COPY(cuMemcpyDtoD, CUdeviceptr, simt::driver_pointer, CUdeviceptr, simt::driver_pointer,
                 cudaMemcpyDeviceToDevice)
#undef SIMT_DRIVER_COPY

#define SIMT_DRIVER_SET(name, T)                                                        \
  inline CUresult name(CUdeviceptr to, T value, size_t count) {                         \
    return simt::set_elements(to, value, sizeof(T), count, nullptr);                    \
  }                                                                                     \
  inline CUresult name##Async(CUdeviceptr to, T value, size_t count, CUstream stream) { \
    return simt::set_elements(to, value, sizeof(T), count, stream);                     \
  }
SIMT_DRIVER_SET(cuMemsetD8, unsigned char)
SIMT_DRIVER_SET(cuMemsetD16, unsigned short)
SIMT_DRIVER_SET(cuMemsetD32, unsigned int)
#undef SIMT_DRIVER_SET

inline CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream) {
  return simt::driver_error(cudaMemPrefetchAsync(simt::driver_pointer<const void>(pointer), bytes, device, stream));
}

// Virtual memory management, as programs name it that ask for the attribute first.
using CUmemGenericAllocationHandle = unsigned long long;
enum CUmemLocationType {
  CU_MEM_LOCATION_TYPE_INVALID,
  CU_MEM_LOCATION_TYPE_DEVICE,
  CU_MEM_LOCATION_TYPE_HOST,
  CU_MEM_LOCATION_TYPE_HOST_NUMA,
  CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
};
enum CUmemAllocationType { CU_MEM_ALLOCATION_TYPE_INVALID, CU_MEM_ALLOCATION_TYPE_PINNED };
enum CUmemAllocationHandleType {
  CU_MEM_HANDLE_TYPE_NONE,
  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
  CU_MEM_HANDLE_TYPE_WIN32,
  CU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
  CU_MEM_HANDLE_TYPE_FABRIC = 8
};
enum CUmemAccess_flags {
  CU_MEM_ACCESS_FLAGS_PROT_NONE,
  CU_MEM_ACCESS_FLAGS_PROT_READ,
  CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
};
enum CUmemAllocationGranularity_flags { CU_MEM_ALLOC_GRANULARITY_MINIMUM, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED };
struct CUmemLocation {
  CUmemLocationType type;
  int id;
};
struct CUmemAllocationProp {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};
struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
};
#define SIMT_NO_VIRTUAL_MEMORY(name, ...) \
  inline CUresult name(__VA_ARGS__) { return CUDA_ERROR_NOT_SUPPORTED; }
SIMT_NO_VIRTUAL_MEMORY(cuMemAddressReserve, CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long)
SIMT_NO_VIRTUAL_MEMORY(cuMemAddressFree, CUdeviceptr, size_t)
SIMT_NO_VIRTUAL_MEMORY(cuMemCreate, CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*,
                       unsigned long long)
SIMT_NO_VIRTUAL_MEMORY(cuMemRelease, CUmemGenericAllocationHandle)
SIMT_NO_VIRTUAL_MEMORY(cuMemMap, CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)
SIMT_NO_VIRTUAL_MEMORY(cuMemUnmap, CUdeviceptr, size_t)
SIMT_NO_VIRTUAL_MEMORY(cuMemSetAccess, CUdeviceptr, size_t, const CUmemAccessDesc*, size_t)
SIMT_NO_VIRTUAL_MEMORY(cuMemGetAllocationGranularity, size_t*, const CUmemAllocationProp*,
                       CUmemAllocationGranularity_flags)
#undef SIMT_NO_VIRTUAL_MEMORY

// Streams and events.
inline CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return simt::driver_error(cudaStreamCreateWithFlags(stream, flags));
}
inline CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
inline CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return simt::driver_error(cudaStreamGetPriority(stream, priority));
}
inline CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return simt::driver_error(cudaStreamGetFlags(stream, flags));
}
inline CUresult cuStreamDestroy(CUstream stream) { return simt::driver_error(cudaStreamDestroy(stream)); }
inline CUresult cuStreamSynchronize(CUstream stream) { return simt::driver_error(cudaStreamSynchronize(stream)); }
inline CUresult cuStreamQuery(CUstream stream) { return simt::driver_error(cudaStreamQuery(stream)); }
inline CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return simt::driver_error(cudaStreamWaitEvent(stream, event, flags));
}
inline CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return simt::driver_error(cudaLaunchHostFunc(stream, function, data));
}
inline CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return simt::driver_error(cudaEventCreateWithFlags(event, flags));
}
inline CUresult cuEventDestroy(CUevent event) { return simt::driver_error(cudaEventDestroy(event)); }
inline CUresult cuEventRecord(CUevent event, CUstream stream) {
  return simt::driver_error(cudaEventRecord(event, stream));
}
inline CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return simt::driver_error(cudaEventRecordWithFlags(event, stream, flags));
}
inline CUresult cuEventSynchronize(CUevent event) { return simt::driver_error(cudaEventSynchronize(event)); }
inline CUresult cuEventQuery(CUevent event) { return simt::driver_error(cudaEventQuery(event)); }
inline CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  return simt::driver_error(cudaEventElapsedTime(milliseconds, start, stop));
}
