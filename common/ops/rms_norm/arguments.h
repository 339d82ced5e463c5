// rms_norm: y[r][c] = x[r][c] * weight[c] / sqrt(mean over j of x[r][j]^2 + eps), in every row of a matrix.
#pragma once

#include <cmath>

#include "../arguments.h"

namespace rung::rms_norm_operator {

// The weights lie behind the matrix in the input buffer.
constexpr size_t weight_offset(const Sizes& sizes, Dtype dtype) { return behind_matrix(sizes, dtype); }

inline bool plan(const Sizes& sizes, Dtype dtype, Plan* plan) {
  if (sizes.rows < 0 || sizes.cols <= 0) return false;
  const size_t rows = static_cast<size_t>(sizes.rows), cols = static_cast<size_t>(sizes.cols);
  const size_t element = static_cast<size_t>(bytes_of(dtype));
  plan->add({"x", 0, rows, cols, element, 0});
  plan->add({"weight", 0, 1, cols, element, weight_offset(sizes, dtype)});
  plan->add({"y", 1, rows, cols, element, 0});
  // The weights may be read again for every row; the matrix may not.
  plan->watched_offset = 0;
  plan->watched_bytes = rows * cols * element;
  return true;
}

inline void expected_row(const float* row, const Sizes& sizes, double* to) {
  double squares = 0;
  for (int c = 0; c < sizes.cols; c++) squares += static_cast<double>(row[c]) * static_cast<double>(row[c]);
  const double scale = 1 / std::sqrt(squares / sizes.cols + static_cast<double>(eps_of(sizes)));
  for (int c = 0; c < sizes.cols; c++) to[c] = static_cast<double>(row[c]) * scale;
}
inline constexpr FarRows far = {{}, 1, 1e-3, expected_row};

inline Sizes sizes_of(int rows, int cols, int) { return {rows, cols, {}}; }

inline constexpr Arguments arguments = {
    "rms_norm", false, {"the input", "the output", nullptr, nullptr}, plan, sizes_of, false, &far};

#ifdef LADDER_HAS_CUDA
// x, y: row-major (rows, cols), contiguous. weight: (cols). All base pointers are aligned to 256 bytes. Returns
// cudaErrorInvalidValue for null pointers, rows < 0 or cols <= 0, and then writes nothing.
template <typename T>
using Function = cudaError_t(const T* x, const T* weight, T* y, int rows, int cols, float eps, cudaStream_t stream);

inline cudaError_t call(void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype dtype, cudaStream_t stream) {
  const auto function =
      reinterpret_cast<cudaError_t (*)(const void*, const void*, void*, int, int, float, cudaStream_t)>(launch);
  const char* const x = static_cast<const char*>(buffers[0]);
  const bool sound = sizes.rows >= 0 && sizes.cols > 0;
  const void* const weight = x && sound ? x + weight_offset(sizes, dtype) : x;
  return function(x, weight, buffers[1], sizes.rows, sizes.cols, eps_of(sizes), stream);
}
#endif

}  // namespace rung::rms_norm_operator
