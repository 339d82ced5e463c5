// What a kernel reads of what the lanes of its warp have brought to a warp operation (include/simt/warp.h): whether it
// may, and what counts as received.
#include "../block.h"
#include "../instrument/recorder.h"
#include "report.h"

namespace simt {

// The functions below are called by every lane of every warp operation. What is rare is called last in them, so that
// the rest needs no registers saved.
namespace {
using Answer = Exchange::Answer;

// What a lane brings itself it does not receive.
bool is_own(const Thread& thread, unsigned source) { return source == thread.lane; }

// A kernel can call what stands below with any pointer. What a thread may read is what its last warp operation brought.
bool is_brought(const Thread& thread, const uint64_t* values, unsigned source) {
  const Exchange* const held = thread.held;
  return __builtin_expect(held && (values == held->values[0] || values == held->values[1]) && source < 32, 1);
}

[[noreturn]] __attribute__((noinline, cold)) void not_brought(const Thread& thread, uintptr_t pc) {
  checks::report("memcheck: invalid address", {current_block->index(), thread.index, thread_rank()}, pc,
                 "it asks the executor for the value of a lane, and names other memory than that of its last warp "
                 "operation.");
}

inline __attribute__((always_inline)) uint64_t received_value(const Thread& thread, const uint64_t* values,
                                                              unsigned source) {
  const uint64_t value = values[source];
  if (!is_own(thread, source)) note_exchanged(value >> 32 ? 8 : 4);
  return value;
}

// Of a lane that is not in the mask, or has returned.
__attribute__((noinline, cold)) uint64_t value_of_absent(const uint64_t* values, unsigned mask, unsigned source,
                                                         Place place) {
  const Thread& thread = *current_block->running();
  checks::shuffle_source(mask, thread.held->came[values == thread.held->values[1]], source, place);
  return received_value(thread, values, source);
}
}  // namespace

#define SIMT_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

uint64_t checked_value(const uint64_t* values, unsigned mask, unsigned source, Place place) noexcept {
  const Thread& thread = *current_block->running();
  if (!is_brought(thread, values, source)) not_brought(thread, SIMT_CALLER);
  // A vote counts whoever is there.
  const bool shuffles = (place.call >= Call::shfl && place.call <= Call::shfl_xor) || place.call == Call::reduce;
  if (shuffles) {
    const unsigned came = thread.held->came[values == thread.held->values[1]];
    if (__builtin_expect(!(mask & came & 1u << source), 0)) return value_of_absent(values, mask, source, place);
  }
  return received_value(thread, values, source);
}

// A lane of the hardware gets a product's results alone. Here it computes them from what others have, of which a
// product reads each once: counted as half of it.
uint64_t checked_operand(const uint64_t* values, unsigned source) noexcept {
  const Thread& thread = *current_block->running();
  if (!is_brought(thread, values, source)) not_brought(thread, SIMT_CALLER);
  if (!is_own(thread, source)) note_exchanged(4);
  return values[source];
}

namespace {
__attribute__((noinline)) unsigned find_lanes(const uint64_t* values, unsigned mask, uint64_t value, Answer* answer) {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; lane++) lanes |= static_cast<unsigned>(values[lane] == value) << lane;
  lanes &= mask;
  *answer = {true, mask, lanes, value};
  return lanes;
}
}  // namespace

unsigned checked_lanes(const uint64_t* values, unsigned mask, uint64_t value) noexcept {
  const Thread& thread = *current_block->running();
  if (!is_brought(thread, values, 0)) not_brought(thread, SIMT_CALLER);
  note_exchanged(4);
  Answer& answer = thread.held->answers[values == thread.held->values[1]];
  if (answer.known && answer.mask == mask && answer.value == value) return answer.lanes;
  return find_lanes(values, mask, value, &answer);
}

}  // namespace simt
