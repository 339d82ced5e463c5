// cudaDeviceGetAttribute: what cudaGetDeviceProperties says, by number.
#include <cuda_runtime.h>

#include "device.h"

namespace {

// False: CUDA knows no such attribute.
bool find(const cudaDeviceProp& p, cudaDeviceAttr attribute, int* value) {
  switch (attribute) {
#define SIMT_ATTRIBUTE(name, number, property) \
  case name:                                   \
    *value = static_cast<int>(property);       \
    break;
#include "include/simt/device_attributes.inc"
#undef SIMT_ATTRIBUTE
    default: return false;
  }
  return true;
}

}  // namespace

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!value) return simt::set_last_error(cudaErrorInvalidValue);
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  return find(properties, attribute, value) ? cudaSuccess : simt::set_last_error(cudaErrorInvalidValue);
}
