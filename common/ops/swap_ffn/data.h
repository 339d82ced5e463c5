// Random inputs of a Swap-FFN step; reference.h says which properties they have.
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

// Draws everything that all cores share, and makes room for the rest.
void draw_weights(SwapFfnStep& step, uint64_t seed);

// Draws scale, shift, RAM and lanes of one core. Each value of `attempt` gives the core other numbers.
void draw_core(SwapFfnStep& step, int core, uint64_t seed, int attempt);

}  // namespace reference
