// Copies of a CUDA array's bytes in the order of its rows.
#include <algorithm>

#include "include/simt/textures.h"
// Declares what the next needs.
#include "cuda_array.h"

namespace {

// Calls copy(array's row, bytes done, bytes) for each row that the range has a part of.
template <typename Copy>
cudaError_t row_by_row(const cudaArray* array, size_t at_byte, size_t at_row, size_t bytes, const char* function,
                       const Copy& copy) {
  if (!array) return simt::test_array_copy(array, 0, 0, 0, 0, function);
  const size_t row_bytes = array->width * simt::bytes_of(array->format);
  if (at_byte > row_bytes || at_row > array->rows() || bytes > (array->rows() - at_row) * row_bytes - at_byte)
    return simt::refuse_array(cudaErrorInvalidValue,
                              "it runs past the end of the array\nOffsets and sizes are in bytes.", function);
  for (size_t done = 0; done < bytes; at_byte = 0, at_row++) {
    const size_t part = std::min(row_bytes - at_byte, bytes - done);
    const cudaError_t error = copy(simt::array_at(array, at_byte, at_row), done, part);
    if (error != cudaSuccess) return error;
    done += part;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t at_byte, size_t at_row, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return row_by_row(to, at_byte, at_row, bytes, "cudaMemcpyToArray", [&](void* row, size_t done, size_t part) {
    return cudaMemcpy(row, static_cast<const char*>(from) + done, part, kind);
  });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t at_byte, size_t at_row, size_t bytes,
                                cudaMemcpyKind kind) {
  return row_by_row(from, at_byte, at_row, bytes, "cudaMemcpyFromArray", [&](void* row, size_t done, size_t part) {
    return cudaMemcpy(static_cast<char*>(to) + done, row, part, kind);
  });
}
