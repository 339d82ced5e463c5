// What a lab asks of a variant of this operator.
#pragma once

#include "moves.h"

namespace testing_ {

// k indices and k probabilities a row, 4 bytes each, and no other store.
Demand writes_only_the_top_k();

}  // namespace testing_
