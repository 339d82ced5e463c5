// Which rows of the timed launches are looked at, and whether they are right.
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

// A few rows of every set and more of one of them, the first and the last row among these: drawn after the launches, so
// that nobody can know beforehand what will be looked at.
std::vector<Pick> draw(std::mt19937_64& random, const Shape& shape, int sets);

// What is wrong with the rows that were fetched; "" if nothing is. In kinds of mistakes, without a value.
std::string verify(const std::vector<Pick>& picks, const std::vector<unsigned char>& rows, uint64_t seed, rung::Op op,
                   rung::Dtype dtype, const Shape& shape);

}  // namespace speed
