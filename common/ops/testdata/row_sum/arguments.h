// row_sum: the sum of every row of a matrix, in single precision.
#pragma once

#include "../arguments.h"

namespace rung::row_sum_operator {

inline bool plan(const Sizes& sizes, Dtype dtype, Plan* plan) {
  if (sizes.rows < 0 || sizes.cols <= 0) return false;
  const size_t rows = static_cast<size_t>(sizes.rows);
  plan->add({"x", 0, rows, static_cast<size_t>(sizes.cols), static_cast<size_t>(bytes_of(dtype)), 0});
  plan->add({"sum", 1, rows, 1, sizeof(float), 0});
  return true;
}

inline void expected_row(const float* row, const Sizes& sizes, double* to) {
  *to = 0;
  for (int c = 0; c < sizes.cols; c++) *to += static_cast<double>(row[c]);
}
inline constexpr FarRows far = {{}, 1, 1e-3, expected_row};

inline Sizes sizes_of(int rows, int cols, int) { return {rows, cols, {}}; }

inline constexpr Arguments arguments = {"row_sum", false, {"the input", "the sums", nullptr, nullptr}, plan, sizes_of,
                                        false,     &far};

#ifdef LADDER_HAS_CUDA
// x: row-major (rows, cols). sum: (rows).
template <typename T>
using Function = cudaError_t(const T* x, float* sum, int rows, int cols, cudaStream_t stream);

inline cudaError_t call(void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype, cudaStream_t stream) {
  const auto function = reinterpret_cast<cudaError_t (*)(const void*, float*, int, int, cudaStream_t)>(launch);
  return function(buffers[0], static_cast<float*>(buffers[1]), sizes.rows, sizes.cols, stream);
}
#endif

}  // namespace rung::row_sum_operator
