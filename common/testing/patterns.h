// Looks for the pattern in what is wrong: which columns, which rows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare.h"

namespace testing_ {

// faults: row-major (rows, cols), one for every element. row_bytes: the distance between two rows of the input.
// column_word: "column", or "rank" for top-K.
// Returns one line a finding, each ending in '\n'; nothing if the faults are everywhere.
std::string describe_patterns(const std::vector<Fault>& faults, int rows, int cols, size_t row_bytes,
                              const char* column_word);

// "wrong only in targets, in 6 of 7", "in all of them": of the first kind that all faults are of, where not all
// elements are; else
// "".
std::string describe_special(const std::vector<Fault>& faults, const std::vector<Special>& special);

}  // namespace testing_
