// The words that a rung and those who call it share.
#pragma once

#include "../ops/operators.h"

namespace rung {

// The most predictions that a rung can make (RUNG_PREDICT).
constexpr int max_predictions = 32;

// Answers to "what limits it?": what is busy nearly all of the time; latency, if nothing is.
namespace limit {
inline constexpr double dram = 1;
inline constexpr double l2 = 2;
inline constexpr double lsu = 3;      // the load and store units, shared memory among them
inline constexpr double issue = 4;    // the warp schedulers: too many instructions
inline constexpr double mufu = 5;     // the unit for exponentials
inline constexpr double latency = 6;  // warps wait, for memory or for a barrier, and too few others have work
}  // namespace limit

}  // namespace rung
