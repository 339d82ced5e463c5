// Names and descriptions of errors.
#include <cuda_runtime.h>

namespace {

struct Error {
  cudaError_t value;
  const char *name, *description;
};

constexpr Error errors[] = {
#define SIMT_ERROR(name, value, description) {name, #name, description},
#include "include/simt/errors.inc"
#undef SIMT_ERROR
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
