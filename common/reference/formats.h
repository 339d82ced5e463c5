// Element formats on the host: exact conversion to double, and from float with one rounding.
#pragma once

#include <cstddef>
#include <vector>

#include "types.h"

namespace reference {

// data: `count` elements of the given type. Every value of these types is exact in double.
std::vector<double> decode(const void* data, size_t count, rung::Dtype dtype);

// Rounded to the nearest, ties to even. The result holds values.size() elements of the given type.
std::vector<unsigned char> encode(const std::vector<float>& values, rung::Dtype dtype);

// Half the distance between neighbouring numbers of the format at x: the largest error that one rounding can make
// there, subnormal numbers included.
double half_ulp(double x, rung::Dtype dtype);

}  // namespace reference
