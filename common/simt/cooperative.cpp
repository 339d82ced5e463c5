#include "cooperative.h"

#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "block.h"
#include "checks/observer.h"
#include "failure.h"
#include "resident.h"

namespace simt {

namespace {

[[noreturn]] void fail(const char* what, const char* detail, uint3 block, uint3 thread, Place place) {
  Failure failure = {};
  failure.what = what;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", detail);
  failure.in_kernel = true;
  std::memcpy(failure.block, &block, sizeof failure.block);
  std::memcpy(failure.thread, &thread, sizeof failure.thread);
  failure.file = place.file;
  failure.line = place.line;
  report_failure(failure);
}

}  // namespace

void run_cooperative(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes)) {
  std::vector<uint64_t> all(launch->block_count());
  std::iota(all.begin(), all.end(), uint64_t{0});
  Residents grid(launch, static_shared, poison);
  grid.run(all, [&] {
    for (size_t i = 0; i < grid.count(); i++) {
      if (grid.state(i) == Residents::State::waits) continue;
      const Thread& thread = *current_block->running();
      fail("deadlock",
           "The block waits in grid.sync(), but other blocks of the grid have returned. Every block must reach every "
           "grid.sync(): is it inside a branch or a loop?",
           current_block->index(), thread.index, thread.place);
    }
    if (launch->record && current_observer()) current_observer()->grid_complete();
  });
}

void fail_no_meeting(uint3 block, uint3 thread, Place place) {
  fail("a barrier that was not initialised",
       "The thread arrives at a barrier, or waits for it, and no thread of the block has called its init(). One thread "
       "initialises it; a __syncthreads() before the others use it.",
       block, thread, place);
}

void fail_not_cooperative(Place place) {
  fail("grid.sync() in an ordinary launch",
       "A barrier of the whole grid needs all blocks to be resident: launch the kernel with "
       "cudaLaunchCooperativeKernel().",
       current_block->index(), threadIdx, place);
}

void grid_barrier(Place place) {
  if (!is_cooperative()) fail_not_cooperative(place);
  current_block->grid_barrier(place);
}

bool is_cooperative() { return current_block->launch().cooperative; }

}  // namespace simt
