// The cases of lab 07's operator, and the verdict on what a variant made of one.
#pragma once

#include <string>
#include <vector>

#include "cases.h"
#include "compare.h"
#include "swap_ffn_reference.h"

namespace testing_ {

// From the smallest up within each group. Sizes are small: on the executor a product of two numbers takes nanoseconds.
std::vector<Case> swap_ffn_cases();
std::vector<Case> hidden_swap_ffn_cases(uint64_t seed);
Case swap_ffn_integrity_case(uint64_t seed);

// The sizes as a Shape, for moves and predictions: rows are cores, columns d_model.
Shape shape_of(const rung::SwapFfnSizes& sizes);
void set_sizes(Case* c, const rung::SwapFfnSizes& sizes);

// Data and reference of a case. The same object for the same case and seed: what it took to compute is kept.
const reference::SwapFfnStep& step_of(const Case& c, uint64_t seed);

// Tolerances, in units of the root mean square of the row (delta, or a bank of RAM) that a number is in:
//     f32    any number off by 1e-3, or a row's root mean square of errors above 2e-4
//     bf16   any number off by 0.08, or a row's root mean square of errors above 0.02
// bf16: 16 steps of three roundings, each 0.1 % of the state (test_compare.cpp has what they add up to). Lanes and
// banks that no exchange touched must be exact.
Comparison compare_swap_ffn(const reference::SwapFfnStep& step, const std::vector<unsigned char>& delta,
                            const std::vector<unsigned char>& ram_and_lanes, rung::Dtype dtype);

}  // namespace testing_
