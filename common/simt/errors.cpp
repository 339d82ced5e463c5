// Names and descriptions of errors.
#include <cuda_runtime.h>

namespace {

struct Error {
  cudaError_t value;
  const char *name, *description;
};

constexpr Error errors[] = {
#define SIMT_RUNTIME_ERROR(name, value, description) {name, #name, description},
#define SIMT_ERROR(name, drivers, value, description) SIMT_RUNTIME_ERROR(name, value, description)
#define SIMT_DRIVER_ERROR(name, value)
#include "include/simt/errors.inc"
};

const Error& find(cudaError_t value) {
  for (const Error& error : errors) {
    if (error.value == value) return error;
  }
  static constexpr Error unrecognized = {cudaErrorUnknown, "unrecognized error code", "unrecognized error code"};
  return unrecognized;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) { return find(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return find(error).description; }
