// softmax: y[r][c] = exp(x[r][c]) / sum over j of exp(x[r][j]), in every row of a matrix.
#pragma once

#include <cmath>

#include "../arguments.h"

namespace rung {

// The arguments that every rung must refuse (design: the input contract). A rung may refuse more: a row that does not
// fit in its shared memory, say.
inline bool valid(const void* x, const void* y, int rows, int cols) { return x && y && rows >= 0 && cols > 0; }

namespace softmax_operator {

inline bool plan(const Sizes& sizes, Dtype dtype, Plan* plan) {
  if (sizes.rows < 0 || sizes.cols <= 0) return false;
  const size_t rows = static_cast<size_t>(sizes.rows), cols = static_cast<size_t>(sizes.cols);
  const size_t element = static_cast<size_t>(bytes_of(dtype));
  plan->add({"x", 0, rows, cols, element, 0});
  plan->add({"y", 1, rows, cols, element, 0});
  plan->watched_offset = 0;
  plan->watched_bytes = rows * cols * element;
  return true;
}

inline void expected_row(const float* row, const Sizes& sizes, double* to) {
  double sum = 0;
  for (int c = 0; c < sizes.cols; c++) sum += to[c] = std::exp(static_cast<double>(row[c]));
  for (int c = 0; c < sizes.cols; c++) to[c] /= sum;
}
inline constexpr FarRows far = {{}, 1, 1e-6, expected_row};

inline Sizes sizes_of(int rows, int cols, int) { return {rows, cols, {}}; }

inline constexpr Arguments arguments = {"softmax", false, {"the input", "the output", nullptr, nullptr}, plan, sizes_of,
                                        false,     &far};

}  // namespace softmax_operator

#ifdef LADDER_HAS_CUDA
namespace softmax_operator {

// x, y: row-major (rows, cols), contiguous, base pointers aligned to 256 bytes. Row r starts at x + r * cols, so rows
// are misaligned whenever cols is odd. Returns cudaErrorInvalidValue for arguments that it does not take, and then
// writes nothing.
template <typename T>
using Function = cudaError_t(const T* x, T* y, int rows, int cols, cudaStream_t stream);

// The element type differs, but not the calling convention: all pointers to objects are passed in the same way.
inline cudaError_t call(void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype, cudaStream_t stream) {
  const auto function = reinterpret_cast<cudaError_t (*)(const void*, void*, int, int, cudaStream_t)>(launch);
  return function(buffers[0], buffers[1], sizes.rows, sizes.cols, stream);
}

}  // namespace softmax_operator
#endif

}  // namespace rung
