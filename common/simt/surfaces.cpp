// Surface objects: which bytes of a CUDA array a kernel accesses (include/simt/surfaces.h). Errors are those of CUDA's
// documentation, which no GPU was asked for.
#include "include/simt/surfaces.h"

#include <array>
#include <atomic>
#include <string>

#include "cuda_array.h"
#include "device.h"
#include "failure.h"

namespace {

// By object, which counts from 1. Kernels look while the host creates others.
std::array<std::atomic<cudaArray_t>, 65536> surfaces;

const char* const what = "a wrong access of a surface";

// Within 0 to size - 1, in steps; false: it is beyond, and the mode lets it be.
bool place_within(long* at, long size, long step, cudaSurfaceBoundaryMode mode, const char* coordinate,
                  simt::Place place) {
  if (*at >= 0 && *at + step <= size) return true;
  if (mode == cudaBoundaryModeTrap)
    simt::fail_in_kernel(what,
                         std::string(coordinate) + " is " + std::to_string(*at) + ", and the array ends at " +
                             std::to_string(size) +
                             (step > 1 ? ": x counts bytes. On a GPU the kernel is stopped (cudaBoundaryModeTrap)."
                                       : ". On a GPU the kernel is stopped (cudaBoundaryModeTrap)."),
                         place);
  if (mode == cudaBoundaryModeZero) return false;
  *at = *at < 0 ? 0 : size - step;
  return true;
}

}  // namespace

namespace simt {

void* surface_at(cudaSurfaceObject_t object, const SurfacePlace& at, unsigned bytes, cudaSurfaceBoundaryMode mode,
                 Place place) noexcept {
  const cudaArray* const array = object && object < surfaces.size() ? surfaces[object].load() : nullptr;
  if (!array)
    fail_in_kernel(
        what, "The number is no surface object: it was not created in this process, or it has been destroyed.", place);
  const bool layered = array->flags & cudaArrayLayered;
  const int dimensions = array->depth && !layered ? 3 : array->height ? 2 : 1;
  if (at.dimensions != dimensions || (at.layer >= 0) != layered)
    fail_in_kernel(what,
                   "The array has " + std::to_string(dimensions) + (dimensions > 1 ? " dimensions" : " dimension") +
                       (layered ? " and layers" : "") + ", and the call is for " + std::to_string(at.dimensions) +
                       (at.layer >= 0 ? " and layers." : "."),
                   place);
  if (at.x % static_cast<int>(bytes))
    fail_in_kernel(what,
                   "x is " + std::to_string(at.x) + ", no multiple of the " + std::to_string(bytes) +
                       " bytes that are accessed: x counts bytes, as in x * sizeof(float).",
                   place);
  long x = at.x, y = at.y, z = layered ? at.layer : at.z;
  if (!place_within(&x, static_cast<long>(array->width * bytes_of(array->format)), bytes, mode, "x", place) ||
      !place_within(&y, static_cast<long>(array->rows()), 1, mode, "y", place) ||
      !place_within(&z, static_cast<long>(array->slices()), 1, mode, layered ? "The layer" : "z", place))
    return nullptr;
  return array->data + (static_cast<size_t>(z) * array->rows() + static_cast<size_t>(y)) * array->pitch +
         static_cast<size_t>(x);
}

}  // namespace simt

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  if (!object || !resource || resource->resType != cudaResourceTypeArray || !resource->res.array.array)
    return simt::set_last_error(cudaErrorInvalidValue);
  const cudaArray_t array = resource->res.array.array;
  if (!(array->flags & cudaArraySurfaceLoadStore))
    return simt::refuse_array(cudaErrorInvalidValue,
                              "the array was made without cudaArraySurfaceLoadStore\nGive cudaMallocArray this flag.");
  for (size_t i = 1; i < surfaces.size(); i++) {
    cudaArray_t none = nullptr;
    if (!surfaces[i].compare_exchange_strong(none, array)) continue;
    *object = i;
    return cudaSuccess;
  }
  return simt::set_last_error(cudaErrorMemoryAllocation);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  if (!object) return cudaSuccess;
  if (object >= surfaces.size() || !surfaces[object].exchange(nullptr))
    return simt::set_last_error(cudaErrorInvalidValue);
  return cudaSuccess;
}
