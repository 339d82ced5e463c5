// The operator of lab 07, which has cases, data and a reference of its own. Only programs that link swap_ffn_cases.cpp
// have it: the tests of the other labs compile faster without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "compare.h"

namespace testing_ {

struct StepOperator {
  std::vector<Case> (*cases)();
  std::vector<Case> (*hidden_cases)(uint64_t seed);
  Case (*integrity_case)(uint64_t seed);
  std::vector<unsigned char> (*input)(const Case& c, rung::Dtype dtype, uint64_t seed);
  Comparison (*compare)(const Case& c, uint64_t seed, const std::vector<unsigned char>& delta,
                        const std::vector<unsigned char>& ram_and_lanes, rung::Dtype dtype);
  std::string (*name)(const rung::SwapFfnSizes& sizes);
};

// Throws std::logic_error if the program has none.
const StepOperator& step_operator();

// To be called once, before main. Returns true.
bool add_step_operator(const StepOperator& functions);

}  // namespace testing_
