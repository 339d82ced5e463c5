// The verdict on an output that is numbers and nothing else: for operators that need no words of their own.
#pragma once

#include <string>
#include <vector>

#include "compare.h"

namespace testing_ {

// expected: rows x cols. got: as many elements of type dtype. allowed: how far each may be off, besides one rounding to
// dtype. NaN is right where NaN is expected, and an infinity where that infinity is. name: of the tensor.
Comparison compare_numbers(const std::string& name, const std::vector<double>& expected,
                           const std::vector<double>& allowed, const unsigned char* got, int cols, rung::Dtype dtype);

}  // namespace testing_
