// Chooses which rows of the timed launches are examined, and verifies them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "timed.h"
#include "types.h"

namespace speed {

// Draws a few rows of every set, and more of one set, its first and last row included. Drawn after the launches, so
// that nobody can know beforehand which rows are examined.
std::vector<rung::Pick> draw(std::mt19937_64& random, int rows, int sets);

// Returns what is wrong with the fetched rows; "" if they are right. It names kinds of mistakes and gives no values.
std::string verify(const std::vector<rung::Pick>& picks, const std::vector<unsigned char>& rows, uint64_t seed,
                   rung::Op op, rung::Dtype dtype, const rung::Sizes& sizes);

}  // namespace speed
