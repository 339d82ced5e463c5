// Chooses which rows of the timed launches are examined, and verifies them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "timer_protocol.h"
#include "types.h"

namespace speed {

struct Shape {
  int rows = 0, cols = 0, k = 0;  // k: 0 for softmax
};

// Draws a few rows of every set, and more of one set, its first and last row included. Drawn after the launches, so
// that nobody can know beforehand which rows are examined.
std::vector<Pick> draw(std::mt19937_64& random, const Shape& shape, int sets);

// Returns what is wrong with the fetched rows; "" if they are right. It names kinds of mistakes and gives no values.
std::string verify(const std::vector<Pick>& picks, const std::vector<unsigned char>& rows, uint64_t seed, rung::Op op,
                   rung::Dtype dtype, const Shape& shape);

}  // namespace speed
