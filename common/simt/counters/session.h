// The counting that is under way, as the executor sees it.
#pragma once

#include <memory>

#include "../launch_state.h"
#include "../timing/predictor.h"
#include "collector.h"

namespace simt::counters {

// Counters for a launch that begins; nullptr if nothing is being counted.
std::unique_ptr<LaunchCounters> begin_launch(const LaunchState& launch);
// Whether there is memory that is watched.
bool is_watching();

void end_launch(const LaunchState& launch, LaunchCounters& counters);

}  // namespace simt::counters
