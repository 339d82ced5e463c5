// Predicts the launches that are counted. Which GPU is chosen once for the whole process.
#pragma once

#include <memory>
#include <optional>

#include "../launch_state.h"
#include "prediction.h"
#include "tracer.h"

namespace simt::timing {

// From now on the time of every counted launch is predicted for this GPU (machine.h says which there are). Throws
// std::runtime_error. An empty name: no more predictions.
// times: a launch stands for one of so many times its blocks, which touch so many times its memory: rows of a matrix
// are alike, and running a part of them is enough.
void predict_for(const std::string& gpu, unsigned times = 1);

// What is to take the traces of a launch that begins; nullptr if nothing is to be predicted.
std::unique_ptr<LaunchTracer> begin_launch(const LaunchState& launch);

// Of a launch that has ended. Where equal launches were predicted before, that is the answer. kernel: its name.
// requests: loads of global and shared memory by warps; global_requests: loads, stores and atomics of global memory.
Prediction end_launch(const LaunchState& launch, const std::string& kernel, LaunchTracer* tracer, uint64_t sectors_read,
                      uint64_t sectors_written, uint64_t requests, uint64_t global_requests);

// A call of a library, whose kernels are not there to be predicted: a launch without a prediction.
void note_library_call(const std::string& name);

// What the launches so far would have taken, one after the other.
struct Clock {
  double seconds = 0;
  uint64_t launches = 0, unknown = 0;  // unknown: those of them that have no prediction
};
Clock predicted_clock();

// The predicted time between two readings, in seconds. None if there were no launches, or no GPU is chosen. NaN if one
// of them has no prediction: what the others take says nothing of all. Says on stderr whose time it is, and for each
// kernel once why there is none.
std::optional<double> predicted_between(const Clock& start, const Clock& stop);

}  // namespace simt::timing
