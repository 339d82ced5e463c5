// The verdict on an output that consists of numbers only, for operators that need no messages of their own.
#pragma once

#include <string>
#include <vector>

#include "compare.h"

namespace testing_ {

// expected: rows x cols. got: as many elements of type dtype. allowed: the permitted error of each, besides one
// rounding to dtype. Where NaN or an infinity is expected, the same is required. name: of the tensor; ""
// where there is but one.
Comparison compare_numbers(const std::string& name, const std::vector<double>& expected,
                           const std::vector<double>& allowed, const unsigned char* got, int cols, rung::Dtype dtype,
                           const std::vector<Special>& special = {});

}  // namespace testing_
