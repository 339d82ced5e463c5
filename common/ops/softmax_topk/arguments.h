// softmax_topk: the k largest probabilities of every row of a matrix, and where they are.
#pragma once

#include <cmath>

#include "../arguments.h"

namespace rung {

// The largest k that softmax_topk takes.
constexpr int max_k = 1024;

inline bool valid(const void* logits, const void* index, const void* prob, int rows, int cols, int k) {
  return logits && index && prob && rows >= 0 && cols > 0 && k > 0 && k <= cols && k <= max_k;
}

namespace softmax_topk_operator {

constexpr int k_of(const Sizes& sizes) { return sizes.more[0]; }

inline bool plan(const Sizes& sizes, Dtype dtype, Plan* plan) {
  if (sizes.rows < 0 || sizes.cols <= 0 || k_of(sizes) <= 0) return false;
  const size_t rows = static_cast<size_t>(sizes.rows), k = static_cast<size_t>(k_of(sizes));
  plan->add({"logits", 0, rows, static_cast<size_t>(sizes.cols), static_cast<size_t>(bytes_of(dtype)), 0});
  plan->add({"index", 1, rows, k, sizeof(int), 0});
  plan->add({"prob", 2, rows, k, sizeof(float), 0});
  plan->watched_offset = 0;
  plan->watched_bytes = plan->tensors[0].bytes();
  return true;
}

inline void expected_row(const float* row, const Sizes& sizes, double* to) {
  double sum = 0;
  int kept = 0;
  for (int c = 0; c < sizes.cols; c++) {
    const double e = std::exp(static_cast<double>(row[c]));
    sum += e;
    int at = kept < k_of(sizes) ? kept++ : kept;  // past the end: it is smaller than all
    for (; at > 0 && to[at - 1] < e; at--) {
      if (at < kept) to[at] = to[at - 1];
    }
    if (at < kept) to[at] = e;
  }
  for (int i = 0; i < k_of(sizes); i++) to[i] /= sum;
}
inline constexpr FarRows far = {{5}, 2, 1e-6, expected_row};

inline Sizes sizes_of(int rows, int cols, int k) { return {rows, cols, {k < cols ? k : cols}}; }

inline constexpr Arguments arguments = {
    "softmax_topk", true, {"the input", "the indices", "the probabilities", nullptr}, plan, sizes_of, false, &far};

}  // namespace softmax_topk_operator

#ifdef LADDER_HAS_CUDA
namespace softmax_topk_operator {

// logits: row-major (rows, cols). index, prob: row-major (rows, k), sorted by descending probability; of equal
// logits, the lower index comes first.
template <typename T>
using Function = cudaError_t(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream);

inline cudaError_t call(void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype, cudaStream_t stream) {
  const auto function =
      reinterpret_cast<cudaError_t (*)(const void*, int*, float*, int, int, int, cudaStream_t)>(launch);
  return function(buffers[0], static_cast<int*>(buffers[1]), static_cast<float*>(buffers[2]), sizes.rows, sizes.cols,
                  k_of(sizes), stream);
}

}  // namespace softmax_topk_operator
#endif

}  // namespace rung
