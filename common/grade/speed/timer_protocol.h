// The messages between the judge and the timer, over the descriptors of rung/protocol.h: one Reply per request.
//
//     judge                 timer
//       |    <- Reply::table  |  the rung is loaded; TableEntry x count
//       |  prepare ->         |  new inputs in all sets, outputs poisoned, caches full of something else, device idle
//       |  launch ->          |  the variant once on each set, then until the device is idle
//       |  fetch ->           |  copies the rows of the output that the judge picks now
//
// The judge measures the time, from sending a request to receiving its answer. It never uses a time from the timer,
// which shares its process with the submission.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol.h"

namespace speed {

constexpr uint32_t timer_magic = 0x4c445453;  // "LDTS"
constexpr int most_sets = 4096, most_picks = 4096;

enum class Phase : int32_t { prepare, launch, fetch };

struct TimerRequest {
  uint32_t magic;
  Phase phase;
  uint64_t job;
  int32_t variant, rows, cols, k;  // k: 0 for softmax
  int32_t sets;                    // launches, each on an input and an output of its own
  int32_t picks;                   // fetch: the number of picks at the beginning of the shared memory
  uint64_t seed;                   // of the inputs
  uint64_t memory;                 // bytes of device memory that the first prepare allocates and keeps
};

struct Pick {
  int32_t set, row;
};

// The memory of one set. Every part begins at a multiple of 256 bytes.
struct SetLayout {
  size_t input_row, output_row[2];  // bytes
  size_t output[2];                 // where they begin; the input begins at 0
  size_t total;
};

inline size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

// element: bytes of one logit.
inline SetLayout set_layout(bool topk, int rows, int cols, int k, size_t element) {
  SetLayout set{};
  const size_t n = static_cast<size_t>(rows);
  set.input_row = static_cast<size_t>(cols) * element;
  set.output_row[0] = topk ? static_cast<size_t>(k) * sizeof(int32_t) : set.input_row;
  set.output_row[1] = topk ? static_cast<size_t>(k) * sizeof(float) : 0;
  set.output[0] = aligned(n * set.input_row);
  set.output[1] = set.output[0] + aligned(n * set.output_row[0]);
  set.total = set.output[1] + aligned(n * set.output_row[1]);
  return set;
}

// Offset in the shared memory, in bytes, at which a fetch stores the picked rows, one after the other: first output,
// second output.
inline size_t picked_rows(int picks) { return aligned(static_cast<size_t>(picks) * sizeof(Pick)); }

}  // namespace speed
