// What a kernel reads of what the lanes of its warp have brought to a warp operation (include/simt/warp.h): whether it
// may, and what counts as received.
#include "../block.h"
#include "../instrument/recorder.h"
#include "report.h"

namespace simt {

namespace {
// What a lane brings itself it does not receive.
bool is_own(unsigned source) { return source == thread_rank() % 32; }

// A kernel can call what stands below with any pointer. What a thread may read is what its last warp operation brought.
void expect_brought(const uint64_t* values, unsigned source, uintptr_t pc) {
  const Thread& thread = *current_block->running();
  const Exchange* const held = thread.held;
  if (__builtin_expect(held && (values == held->values[0] || values == held->values[1]) && source < 32, 1)) return;
  checks::report("memcheck: invalid address", {current_block->index(), thread.index, thread_rank()}, pc,
                 "it asks the executor for the value of a lane, and names other memory than that of its last warp "
                 "operation.");
}
}  // namespace

#define SIMT_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

uint64_t checked_value(const uint64_t* values, unsigned mask, unsigned source, Place place) noexcept {
  expect_brought(values, source, SIMT_CALLER);
  // A vote counts whoever is there.
  const bool shuffles = (place.call >= Call::shfl && place.call <= Call::shfl_xor) || place.call == Call::reduce;
  if (shuffles) {
    const Exchange* const held = current_block->running()->held;
    const unsigned came = held->came[values == held->values[1]];
    if (__builtin_expect(!(mask & came & 1u << source), 0)) checks::shuffle_source(mask, came, source, place);
  }
  if (!is_own(source)) note_exchanged(values[source] >> 32 ? 8 : 4);
  return values[source];
}

// A lane of the hardware gets a product's results alone. Here it computes them from what others have, of which a
// product reads each once: counted as half of it.
uint64_t checked_operand(const uint64_t* values, unsigned source) noexcept {
  expect_brought(values, source, SIMT_CALLER);
  if (!is_own(source)) note_exchanged(4);
  return values[source];
}

unsigned checked_lanes(const uint64_t* values, unsigned mask, uint64_t value) noexcept {
  expect_brought(values, 0, SIMT_CALLER);
  note_exchanged(4);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; lane++) {
    if (mask >> lane & 1 && values[lane] == value) lanes |= 1u << lane;
  }
  return lanes;
}

}  // namespace simt
