// The words that a rung and those who call it share.
#pragma once

namespace rung {

enum class Op : int { softmax, softmax_topk, swap_ffn };
enum class Dtype : int { f32, f16, bf16 };

// The largest k that softmax_topk takes.
constexpr int max_k = 1024;

// The most predictions that a rung can make (RUNG_PREDICT).
constexpr int max_predictions = 32;

constexpr int bytes_of(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 2; }

constexpr const char* name_of(Op op) {
  return op == Op::softmax ? "softmax" : op == Op::softmax_topk ? "softmax_topk" : "swap_ffn";
}

constexpr const char* name_of(Dtype dtype) {
  return dtype == Dtype::f32 ? "f32" : dtype == Dtype::f16 ? "f16" : "bf16";
}

}  // namespace rung
