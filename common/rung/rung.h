// What a rung exports.
//
// A rung is one .cu file. It ends with a table of its variants:
//
//     RUNG_EXPORT(rung::softmax("serial", serial), rung::softmax("tree", tree))
//
// A lab's file may begin with numbers that its author predicts before there is a kernel:
//
//     RUNG_PREDICT({"tree_barriers", 20}, {"float4_loads", rung::unknown})
//
// The file is built into a shared object, which a worker process loads (worker.cpp). Nothing else of a rung is visible
// to the code that judges it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <limits>

#include "swap_ffn.h"
#include "types.h"

namespace rung {

// Element type of the matrix -> its Dtype.
constexpr Dtype dtype_of(const float*) { return Dtype::f32; }
constexpr Dtype dtype_of(const __half*) { return Dtype::f16; }
constexpr Dtype dtype_of(const __nv_bfloat16*) { return Dtype::bf16; }

// One row of the table. `launch` is a SoftmaxFunction<T>, a TopkFunction<T> or a SwapFfnFunction<T>, T and which of
// them as the other fields say.
struct Variant {
  const char* name;
  Op op;
  Dtype dtype;
  void (*launch)();
};

// x, y: row-major (rows, cols), contiguous, base pointers aligned to 256 bytes. Row r starts at x + r * cols, so rows
// are misaligned whenever cols is odd. Returns cudaErrorInvalidValue for arguments that it does not take, and then
// writes nothing.
template <typename T>
using SoftmaxFunction = cudaError_t(const T* x, T* y, int rows, int cols, cudaStream_t stream);

// logits: row-major (rows, cols). index, prob: row-major (rows, k), sorted by falling probability, the lower index
// first where logits are equal.
template <typename T>
using TopkFunction = cudaError_t(const T* logits, int* index, float* prob, int rows, int cols, int k,
                                 cudaStream_t stream);

// One decode step of a Swap-FFN layer (swap_ffn.h). Returns cudaErrorInvalidValue where valid(step) is false.
template <typename T>
using SwapFfnFunction = cudaError_t(const SwapFfn<T>& step, cudaStream_t stream);

template <typename T>
Variant softmax(const char* name, SoftmaxFunction<T>* function) {
  return {name, Op::softmax, dtype_of(static_cast<const T*>(nullptr)), reinterpret_cast<void (*)()>(function)};
}

template <typename T>
Variant softmax_topk(const char* name, TopkFunction<T>* function) {
  return {name, Op::softmax_topk, dtype_of(static_cast<const T*>(nullptr)), reinterpret_cast<void (*)()>(function)};
}

template <typename T>
Variant swap_ffn(const char* name, SwapFfnFunction<T>* function) {
  return {name, Op::swap_ffn, dtype_of(static_cast<const T*>(nullptr)), reinterpret_cast<void (*)()>(function)};
}

// A predicted number. The lab's test.cpp says what each name stands for and counts it; at most max_predictions.
struct Prediction {
  const char* name;  // at most 63 characters
  double value;
};

// Stands for a number that is still to be predicted: NaN, equal to no count.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The arguments that every rung must refuse (design: the input contract). A rung may refuse more: a row that does not
// fit in its shared memory, say.
inline bool valid(const void* x, const void* y, int rows, int cols) { return x && y && rows >= 0 && cols > 0; }

inline bool valid(const void* logits, const void* index, const void* prob, int rows, int cols, int k) {
  return logits && index && prob && rows >= 0 && cols > 0 && k > 0 && k <= cols && k <= max_k;
}

}  // namespace rung

// A rung that is built to be checked and counted says so: the worker then runs it under the checks.
#if defined(__SIMT__) && defined(__SANITIZE_THREAD__)
extern "C" {
extern const bool rung_is_instrumented;
const bool rung_is_instrumented = true;
}
#endif

// The worker finds the table by this name.
#define RUNG_EXPORT(...)                                       \
  extern "C" const rung::Variant* rung_variants(int* count) {  \
    static const rung::Variant table[] = {__VA_ARGS__};        \
    *count = static_cast<int>(sizeof table / sizeof table[0]); \
    return table;                                              \
  }

// So are the predictions, if there are any.
#define RUNG_PREDICT(...)                                           \
  extern "C" const rung::Prediction* rung_predictions(int* count) { \
    static const rung::Prediction table[] = {__VA_ARGS__};          \
    *count = static_cast<int>(sizeof table / sizeof table[0]);      \
    return table;                                                   \
  }
