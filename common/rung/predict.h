// Numbers that the author of a lab's file predicts before there is a kernel:
//
//     RUNG_PREDICT({"tree_barriers", 20}, {"float4_loads", rung::unknown})
#pragma once

#include <limits>

namespace rung {

// A predicted number. The lab's test.cpp says what each name stands for and counts it; at most max_predictions.
struct Prediction {
  const char* name;  // at most 63 characters
  double value;
};

// Stands for a number that is still to be predicted: NaN, equal to no count.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace rung

// The worker finds the numbers by this name.
#define RUNG_PREDICT(...)                                           \
  extern "C" const rung::Prediction* rung_predictions(int* count) { \
    static const rung::Prediction table[] = {__VA_ARGS__};          \
    *count = static_cast<int>(sizeof table / sizeof table[0]);      \
    return table;                                                   \
  }
