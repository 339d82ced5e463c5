// Cooperative launches: all blocks of a grid are resident at once, so that grid.sync() can wait for all of them.
#pragma once

#include "launch_state.h"
#include "module_tls.h"

namespace simt {

// Runs the launch. `poison` fills the shared memory of a block that begins; `static_shared` is the kernel's module's.
void run_cooperative(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes));

// grid.sync() in a kernel whose launch was not cooperative.
[[noreturn]] void fail_not_cooperative(Place place);

// A meeting that nobody has initialised.
[[noreturn]] void fail_no_meeting(uint3 block, uint3 thread, Place place);

}  // namespace simt
