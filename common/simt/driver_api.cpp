// The driver API in terms of the runtime's (include/simt/driver_api.h).
#include "include/simt/driver_api.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "devices.h"

namespace {

constexpr int most_devices = 16;
thread_local std::vector<CUdevice> pushed;  // the devices that were current before each push

}  // namespace

namespace simt {

CUcontext context_of(CUdevice device) {
  static std::array<CUctx_st, most_devices> contexts = [] {
    std::array<CUctx_st, most_devices> made;
    for (int i = 0; i < most_devices; i++) made[static_cast<size_t>(i)].device = i;
    return made;
  }();
  return is_device(device) ? &contexts[static_cast<size_t>(device)] : nullptr;
}

CUresult push_context(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  int before = 0;
  cudaGetDevice(&before);
  pushed.push_back(before);
  return driver_error(cudaSetDevice(context->device));
}

CUresult pop_context(CUcontext* context) {
  if (pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) cuCtxGetCurrent(context);
  const CUdevice before = pushed.back();
  pushed.pop_back();
  return driver_error(cudaSetDevice(before));
}

CUresult set_elements(CUdeviceptr to, unsigned value, unsigned bytes, size_t count, CUstream stream) {
  if (to % bytes) return CUDA_ERROR_INVALID_VALUE;
  if (bytes == 1) return driver_error(cudaMemsetAsync(driver_pointer(to), static_cast<int>(value), count, stream));
  std::vector<char> elements(count * bytes);
  for (size_t i = 0; i < count; i++) std::memcpy(&elements[i * bytes], &value, bytes);
  // By the host: with several devices the copy would be done later, when the elements are gone.
  const cudaError_t error = cudaStreamSynchronize(stream);
  return driver_error(error != cudaSuccess
                          ? error
                          : cudaMemcpy(driver_pointer(to), elements.data(), elements.size(), cudaMemcpyHostToDevice));
}

}  // namespace simt

CUresult cuGetErrorName(CUresult error, const char** name) {
  switch (error) {
#define SIMT_DRIVER_ERROR(error, value) \
  case error:                           \
    *name = #error;                     \
    return CUDA_SUCCESS;
#define SIMT_ERROR(runtimes, name, value, description) SIMT_DRIVER_ERROR(name, value)
#define SIMT_RUNTIME_ERROR(name, value, description)
#include "include/simt/errors.inc"
  }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  const char* name;
  const CUresult known = cuGetErrorName(error, &name);
  *text = known == CUDA_SUCCESS ? cudaGetErrorString(static_cast<cudaError_t>(error)) : nullptr;
  return known;
}

CUresult cuDeviceGet(CUdevice* device, int number) {
  if (!simt::is_device(number)) return CUDA_ERROR_INVALID_DEVICE;
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) std::snprintf(name, static_cast<size_t>(std::max(bytes, 0)), "%s", properties.name);
  return simt::driver_error(error);
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (!simt::is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  int number;
  if (cudaDeviceGetAttribute(&number, static_cast<cudaDeviceAttr>(attribute), device) == cudaSuccess) {
    *value = number;
    return CUDA_SUCCESS;
  }
  cudaGetLastError();
  if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *value = 0;  // those that only the driver API has: what there is not
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) *bytes = properties.totalGlobalMem;
  return simt::driver_error(error);
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) *uuid = properties.uuid;
  return simt::driver_error(error);
}

CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice device) {
  if (!simt::is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = simt::context_of(device);
  return simt::push_context(*context);
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = simt::context_of(device);
  return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  int device = 0;
  cudaGetDevice(&device);
  *context = simt::context_of(device);
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  return simt::driver_error(cudaMalloc(reinterpret_cast<void**>(pointer), bytes));
}
CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned flags) {
  return simt::driver_error(cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags));
}
CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width_bytes, size_t height, unsigned) {
  return simt::driver_error(cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width_bytes, height));
}
