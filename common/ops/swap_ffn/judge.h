// The cases of lab 07's operator, and the verdict on a variant's result.
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

// Data and reference of a case. They are computed once and kept: the same case and seed give the same object.
const reference::SwapFfnStep& step_of(const Case& c, uint64_t seed);

// Tolerances, with r the root mean square of the row (a bank of RAM, or delta) that a number e is in; for delta,
// the value that it would have without cancellation, if that is larger (SwapFfnResult::delta_scale):
//     f32    |got - e| <= 1e-3 r + 1e-3 |e|, and the row's root mean square of errors <= 2e-4 r
//     bf16   |got - e| <= 0.06 r + 0.04 |e|, and the row's root mean square of errors <= 0.02 r
// bf16: three roundings in each of 16 FFN steps, each 0.1 % of the state. The second bound is the one that finds a few
// wrong weights. Lanes and banks that no exchange touched must be exact.
Comparison compare_swap_ffn(const reference::SwapFfnStep& step, const std::vector<unsigned char>& delta,
                            const std::vector<unsigned char>& ram_and_lanes, rung::Dtype dtype);

}  // namespace testing_
