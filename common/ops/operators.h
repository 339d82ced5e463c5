// The operators: a folder each. A new one has a line here and a name below, in the same order.
#pragma once

#include "cross_entropy/arguments.h"
#include "layer_norm/arguments.h"
#include "rms_norm/arguments.h"
#include "softmax/arguments.h"
#include "softmax_topk/arguments.h"
#include "swap_ffn/arguments.h"

#define LADDER_OPERATORS(each) \
  each(softmax) each(softmax_topk) each(swap_ffn) each(rms_norm) each(cross_entropy) each(layer_norm)

namespace rung {

#define LADDER_NUMBER(name) name,
enum class Op : int { LADDER_OPERATORS(LADDER_NUMBER) };
#undef LADDER_NUMBER

inline const Arguments& arguments_of(Op op) {
#define LADDER_ARGUMENTS(name) &name##_operator::arguments,
  static constexpr const Arguments* all[] = {LADDER_OPERATORS(LADDER_ARGUMENTS)};
#undef LADDER_ARGUMENTS
  return *all[static_cast<int>(op)];
}

#define LADDER_ONE(name) +1
constexpr int operator_count = 0 LADDER_OPERATORS(LADDER_ONE);
#undef LADDER_ONE

inline const char* name_of(Op op) { return arguments_of(op).name; }

#ifdef LADDER_HAS_CUDA
// Calls a variant with the buffers of a problem. If a buffer is null, so are all tensors in it. Returns the variant's
// error, or cudaErrorInvalidValue for an unknown operator.
inline cudaError_t call_operator(Op op, void (*launch)(), void* const* buffers, const Sizes& sizes, Dtype dtype,
                                 cudaStream_t stream) {
#define LADDER_CALL(name) \
  if (op == Op::name) return name##_operator::call(launch, buffers, sizes, dtype, stream);
  LADDER_OPERATORS(LADDER_CALL)
#undef LADDER_CALL
  return cudaErrorInvalidValue;
}
#endif

}  // namespace rung
