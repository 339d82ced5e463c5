// The inputs that rungs are measured on.
#pragma once

#include <string>
#include <vector>

namespace bench {

// Row-major (rows, cols): normally distributed with standard deviation 3, the same numbers in every run.
std::vector<float> normal_logits(int rows, int cols);

// The first `rows` rows of a file of raw little-endian float32, row-major (file_rows, cols). Throws Error if it cannot
// be read or does not have the size of that shape.
std::vector<float> read_matrix(const std::string& path, int file_rows, int cols, int rows);

}  // namespace bench
