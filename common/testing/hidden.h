// Cases that only the judge runs: shapes drawn near those that everybody knows, so that a kernel which knows the public
// shapes by heart gains nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "cases.h"

namespace testing_ {

// The hidden cases of an operation. Their names are always the same and say in which way they are special
// ("hidden-above-1024"); shapes and values follow from the seed. A shape is drawn from a family whose members are alike
// (odd widths, just above 1024, multiples of 8), so that a kernel with a typical mistake fails whatever was drawn.
std::vector<Case> hidden_cases(rung::Op op, uint64_t seed);

// The shape on which a variant's own loads and stores are looked at (integrity.h).
Case integrity_case(rung::Op op, uint64_t seed);

}  // namespace testing_
