// What a lab requires of a variant of this operator.
#pragma once

#include "moves.h"

namespace testing_ {

// k indices and k probabilities per row, 4 bytes each, and besides at most partial results, a quarter of what the row
// takes, or the probabilities once more.
Demand writes_the_top_k();

// At most one shuffle or vote of a warp per 8 logits of a row: a warp does not stop for every key that passes.
Demand few_warp_operations();

}  // namespace testing_
