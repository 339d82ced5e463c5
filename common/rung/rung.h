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

#include "predict.h"
#include "types.h"

namespace rung {

// Element type of the matrix -> its Dtype.
constexpr Dtype dtype_of(const float*) { return Dtype::f32; }
constexpr Dtype dtype_of(const __half*) { return Dtype::f16; }
constexpr Dtype dtype_of(const __nv_bfloat16*) { return Dtype::bf16; }

// One row of the table. `launch` is the operator's Function<T> (common/ops), T as dtype says.
struct Variant {
  const char* name;
  Op op;
  Dtype dtype;
  void (*launch)();
};

// rung::softmax("tree", tree) is a row of that operator; so for each.
#define LADDER_ROW(name)                                                                                          \
  template <typename T>                                                                                           \
  Variant name(const char* variant, name##_operator::Function<T>* function) {                                     \
    return {variant, Op::name, dtype_of(static_cast<const T*>(nullptr)), reinterpret_cast<void (*)()>(function)}; \
  }
LADDER_OPERATORS(LADDER_ROW)
#undef LADDER_ROW

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

// A rung that takes long to compile is compiled in parts, each with some rows of the table
// (common/build/instrumented.mk). The linker puts the rows side by side, as they are in a section of one name, and says
// where they begin and end.
#define RUNG_EXPORT_PART(...)                                                                      \
  [[gnu::section("rung_rows"), gnu::used,                                                          \
    gnu::aligned(alignof(rung::Variant))]] static const rung::Variant rung_rows[] = {__VA_ARGS__}; \
  extern "C" {                                                                                     \
  extern const rung::Variant __start_rung_rows[], __stop_rung_rows[];                              \
  const rung::Variant* rung_variants(int* count) {                                                 \
    *count = static_cast<int>(__stop_rung_rows - __start_rung_rows);                               \
    return __start_rung_rows;                                                                      \
  }                                                                                                \
  }
