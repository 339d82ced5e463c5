// Random inputs of a Swap-FFN step. reference.h says what is special about them.
#pragma once

#include <cstdint>

#include "swap_ffn/reference.h"

namespace reference {

// In the order of rung::SwapFfn.
enum class Tensor {
  x,
  scale,
  shift,
  alpha,
  router_norm,
  router_w,
  swap_w,
  bank_w,
  biases,
  ffn_norm,
  w1,
  w3,
  w2,
  basis,
  decoder,
  ram
};

// All that the cores share; room for the rest.
void draw_weights(SwapFfnStep& step, uint64_t seed);

// Scale, shift, RAM and lanes of a core. attempt: other numbers for the same core.
void draw_core(SwapFfnStep& step, int core, uint64_t seed, int attempt);

}  // namespace reference
