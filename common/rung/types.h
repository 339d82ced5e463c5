// The words that a rung and those who call it share.
#pragma once

#include "../ops/operators.h"

namespace rung {

// The most predictions that a rung can make (RUNG_PREDICT).
constexpr int max_predictions = 32;

}  // namespace rung
