#include "cooperative.h"

#include <numeric>
#include <vector>

#include "block.h"
#include "checks/observer.h"
#include "failure.h"
#include "resident.h"

namespace simt {

void run_cooperative(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes)) {
  std::vector<uint64_t> all(launch->block_count());
  std::iota(all.begin(), all.end(), uint64_t{0});
  Residents grid(launch, static_shared, poison);
  grid.run(all, [&] {
    for (size_t i = 0; i < grid.count(); i++) {
      if (grid.state(i) == Residents::State::waits) continue;
      fail_in_kernel(
          "deadlock",
          "The block waits in grid.sync(), but other blocks of the grid have returned. Every block must reach every "
          "grid.sync(): is it inside a branch or a loop?",
          current_block->running()->place);
    }
    if (launch->record && current_observer()) current_observer()->grid_complete();
  });
}

void fail_no_meeting(uint3 block, uint3 thread, Place place) {
  fail_in_kernel(
      "a barrier that was not initialised",
      "The thread arrives at a barrier, or waits for it, and no thread of the block has called its init(). One thread "
      "initialises it; a __syncthreads() before the others use it.",
      place, block, thread);
}

void fail_not_cooperative(Place place) {
  fail_in_kernel("grid.sync() in an ordinary launch",
                 "A barrier of the whole grid needs all blocks to be resident: launch the kernel with "
                 "cudaLaunchCooperativeKernel().",
                 place);
}

void grid_barrier(Place place) {
  if (!is_cooperative()) fail_not_cooperative(place);
  current_block->grid_barrier(place);
}

bool is_cooperative() { return current_block->launch().cooperative; }

}  // namespace simt
