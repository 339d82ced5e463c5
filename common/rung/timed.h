// Launches for a clock outside of the worker, the grader's (common/grade/speed): what client and worker both know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "protocol.h"

namespace rung {

// Launches of one variant, each on an input and outputs of its own, so that none finds its data in a cache and none can
// be left out.
struct TimedSets {
  int variant = 0;  // index into Client::variants()
  Sizes sizes = {};
  int sets = 1;
  uint64_t seed = 0;  // of the inputs (timed_inputs.h)
  size_t memory = 0;  // bytes that the first `prepare` takes on the device and keeps, so that no later process can
};

// One row of the outputs.
struct Pick {
  int32_t set, row;
};

// The memory of one set in bytes: every buffer between two guards, so that a write past its end spoils no other set.
inline size_t bytes_of_set(const Plan& plan) {
  size_t bytes = 0;
  for (const size_t data : plan.bytes) bytes += aligned(guard_bytes + data + guard_bytes);
  return bytes;
}

// So much at the end of the memory is overwritten before every `launch`: more than any GPU's cache holds.
inline size_t flushed_bytes(size_t memory) { return std::min(size_t{256} << 20, memory / 8); }

// Where a fetch stores the picked rows, one after the other: of the first output, of the second.
inline size_t picked_rows(size_t picks) { return aligned(picks * sizeof(Pick)); }
inline size_t row_bytes(const Plan& plan, int output) {
  const Tensor* tensor = plan.first_of(1 + output);
  return tensor ? tensor->cols * tensor->element_bytes : 0;
}
inline size_t row_bytes(const Plan& plan) { return row_bytes(plan, 0) + row_bytes(plan, 1); }
inline size_t fetched_bytes(const Plan& plan, size_t picks) { return picked_rows(picks) + picks * row_bytes(plan); }

}  // namespace rung
