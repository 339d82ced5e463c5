// The cases of lab 07's operator, and the verdict on what a variant made of one.
#pragma once

#include <string>
#include <vector>

#include "cases.h"
#include "compare.h"
#include "swap_ffn/reference.h"

namespace testing_ {

// From the smallest up within each group. Sizes are small: on the executor a product of two numbers takes nanoseconds.
std::vector<Case> swap_ffn_cases();
std::vector<Case> hidden_swap_ffn_cases(uint64_t seed);

void set_sizes(Case* c, const rung::SwapFfnSizes& sizes);

// Data and reference of a case. The same object for the same case and seed: what it took to compute is kept.
const reference::SwapFfnStep& step_of(const Case& c, uint64_t seed);

// Tolerances, with r the root mean square of the row (a bank of RAM, or delta) that a number e is in; of delta, what it
// would be if the sums behind it did not cancel out, where that is more (SwapFfnResult::delta_scale):
//     f32    |got - e| <= 1e-3 r + 1e-3 |e|, and the row's root mean square of errors <= 2e-4 r
//     bf16   |got - e| <= 0.06 r + 0.04 |e|, and the row's root mean square of errors <= 0.02 r
// bf16: three roundings in each of 16 FFN steps, each 0.1 % of the state. The second bound is the one that finds a few
// wrong weights. Lanes and banks that no exchange touched must be exact.
Comparison compare_swap_ffn(const reference::SwapFfnStep& step, const std::vector<unsigned char>& delta,
                            const std::vector<unsigned char>& ram_and_lanes, rung::Dtype dtype);

}  // namespace testing_
