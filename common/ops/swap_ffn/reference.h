// The Swap-FFN step (arguments.h) in double precision with Eigen, and data for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types.h"

namespace reference {

// The results of a step. Row-major.
struct SwapFfnResult {
  std::vector<double> delta;  // (d_model)
  // The root mean square that delta would have if the sums in it did not cancel: errors of the states are compared with
  // this. With collapse_r = 1 delta is one number times the decoder, and that number can be
  // near 0.
  double delta_scale = 0;
  std::vector<double> ram;          // (cores, 4, d_model)
  std::vector<bool> ram_exchanged;  // (cores, 4): false where the bank must be the input's, bit for bit
  std::vector<uint8_t> lanes;       // (cores)
  // Per core, the smallest distance of a hard decision from its threshold, over all events: of the swap's logit from 0
  // and, where it swaps, of the best bank's score from the second best.
  std::vector<double> margin;
  // Per core, the smallest mean of SiLU's arguments over all FFN steps: whether the gates stay open.
  std::vector<double> gate;
};

// All inputs, in the order of rung::SwapFfn, x to ram; every number is a bfloat16, so that variants of both types
// get the same values. And the reference's result for them.
struct SwapFfnStep {
  rung::SwapFfnSizes sizes;
  float magnitude = 1;  // of scale, shift and RAM, and so of the states
  std::vector<float> tensors[rung::swap_ffn_inputs - 1];
  std::vector<uint8_t> lanes;
  SwapFfnResult result;
};

// Hard decisions keep at least this distance from their thresholds. Rounding of bfloat16 moves a logit by about a tenth
// of it (test_reference.cpp).
constexpr double least_margin = 0.05;

// The gates' mean argument (SwapFfnResult::gate) stays above this. It is near 2 for a state along the direction that
// all share, and 0 for one across it: there the FFN makes little of its input, and the next norm makes that large
// again, with its rounding errors.
constexpr double least_gate = 0.8;

// The step for these sizes; the same for the same sizes, seed and magnitude. sizes: valid. magnitude: the states' root
// mean square is about 1.3 of it. At 1 the epsilon of the norms changes nothing that a comparison could see; where the
// mean of the squares is near epsilon, it does.
//
// Two properties are made, not found:
// - A core whose decisions come nearer to a threshold than least_margin, or whose gates close (least_gate), gets
//   another row of scale, shift and RAM. Throws std::runtime_error if a hundred are not enough.
// - The FFN passes its input on. With weights that are only noise, the relative error of silu(a) * b is 1.4 times that
//   of a and b, and after 16 steps nothing but rounding would be left of the state. So w1 answers to a direction that
//   all states share, which keeps the gates open; w3 and w2 hold copies of the identity, and noise of a tenth. A
//   perturbation of 1 stays under 3 then (test_reference.cpp).
SwapFfnStep swap_ffn_step(const rung::SwapFfnSizes& sizes, uint64_t seed, float magnitude = 1);

// The inputs alone, whose decisions may be near a threshold: for callers that need no result.
SwapFfnStep swap_ffn_inputs(const rung::SwapFfnSizes& sizes, uint64_t seed, float magnitude = 1);

// The reference alone, for all cores.
SwapFfnResult swap_ffn(const SwapFfnStep& step);

// The inputs as the worker's input buffer holds them (rung::layout_of). dtype: f32 or bf16.
std::vector<unsigned char> encode(const SwapFfnStep& step, rung::Dtype dtype);

// Multiplications and additions of a step, each counted as one operation: those of its matrices and nothing else.
double swap_ffn_flops(const rung::SwapFfnSizes& sizes);

// "1024-4096 cores 512 events 8x2": a name for sizes.
std::string name_of(const rung::SwapFfnSizes& sizes);

}  // namespace reference
