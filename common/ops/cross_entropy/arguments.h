// cross_entropy: loss[r] = -log(softmax(x[r])[target[r]]), for each row of a matrix of logits; and, if requested, the
// gradient (softmax(x[r])[c] - (c == target[r])) * scale.
#pragma once

#include <cmath>

#include "../arguments.h"

namespace rung::cross_entropy_operator {

constexpr int64_t ignored = -100;  // the target of a row that does not count; PyTorch's default

constexpr bool wants_gradient(const Sizes& sizes) { return sizes.more[0] != 0; }

// The factor that a training step would pass to the gradient. It depends on the number of rows, so that no kernel can
// have it built in.
constexpr float scale_of(const Sizes& sizes) { return 5.0f / (static_cast<float>(sizes.rows) + 3.0f); }

// The targets lie behind the matrix in the input buffer.
constexpr size_t target_offset(const Sizes& sizes, Dtype dtype) { return behind_matrix(sizes, dtype); }

inline bool plan(const Sizes& sizes, Dtype dtype, Plan* plan) {
  if (sizes.rows < 0 || sizes.cols <= 0) return false;
  const size_t rows = static_cast<size_t>(sizes.rows), cols = static_cast<size_t>(sizes.cols);
  const size_t element = static_cast<size_t>(bytes_of(dtype));
  plan->add({"x", 0, rows, cols, element, 0});
  plan->add({"target", 0, rows, 1, sizeof(int64_t), target_offset(sizes, dtype)});
  if (wants_gradient(sizes)) plan->add({"gradient", 1, rows, cols, element, 0});
  plan->add({"loss", 2, rows, 1, sizeof(float), 0});
  plan->watched_offset = 0;
  plan->watched_bytes = rows * cols * element;
  return true;
}

// The expected loss of a row whose target is column 0.
inline void expected_loss(const float* row, const Sizes& sizes, double* to) {
  double sum = 0;
  for (int c = 0; c < sizes.cols; c++) sum += std::exp(static_cast<double>(row[c]));
  *to = std::log(sum) - static_cast<double>(row[0]);
}
inline void expected_gradient(const float* row, const Sizes& sizes, double* to) {
  double sum = 0;
  for (int c = 0; c < sizes.cols; c++) sum += to[c] = std::exp(static_cast<double>(row[c]));
  const double scale = static_cast<double>(scale_of(sizes));
  for (int c = 0; c < sizes.cols; c++) to[c] = (to[c] / sum - (c == 0 ? 1 : 0)) * scale;
}
inline constexpr FarRows far_gradient = {{1}, 1, 1e-13, expected_gradient};
inline constexpr FarRows far = {{1}, 2, 1e-3, expected_loss, &far_gradient};

inline Sizes sizes_of(int rows, int cols, int) { return {rows, cols, {1}}; }

inline constexpr Arguments arguments = {
    "cross_entropy", false, {"the input", "the gradient", "the losses", nullptr}, plan, sizes_of, false, &far};

#ifdef LADDER_HAS_CUDA
// x: row-major (rows, cols), contiguous. target: (rows), each from 0 to cols - 1, or -100. loss: (rows). gradient:
// (rows, cols), or null if only the loss is wanted. All base pointers are aligned to 256 bytes. Returns
// cudaErrorInvalidValue for other null pointers, rows < 0 or cols <= 0, and then writes nothing.
template <typename T>
using Function = cudaError_t(const T* x, const int64_t* target, float* loss, T* gradient, int rows, int cols,
                             float scale, cudaStream_t stream);

inline cudaError_t call(void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype dtype, cudaStream_t stream) {
  const auto function =
      reinterpret_cast<cudaError_t (*)(const void*, const int64_t*, float*, void*, int, int, float, cudaStream_t)>(
          launch);
  const char* const x = static_cast<const char*>(buffers[0]);
  const bool sound = sizes.rows >= 0 && sizes.cols > 0;
  const char* const target = x && sound ? x + target_offset(sizes, dtype) : x;
  return function(x, reinterpret_cast<const int64_t*>(target), static_cast<float*>(buffers[2]),
                  wants_gradient(sizes) ? buffers[1] : nullptr, sizes.rows, sizes.cols, scale_of(sizes), stream);
}
#endif

}  // namespace rung::cross_entropy_operator
