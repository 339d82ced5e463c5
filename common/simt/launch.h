// The pool of OS threads that blocks are spread over.
#pragma once

#include <cuda_runtime.h>

namespace simt {

// Runs the grid on this process's device. The launch is within all limits (device.h).
cudaError_t run_launch(const LaunchConfig& config, const BoundKernel& kernel, bool cooperative);

// Whether a kernel has used an atomic since this was last asked.
bool used_atomics();

// Sends the signal to an OS thread that runs a block. False if there is none. Async-signal-safe.
bool pass_to_busy_thread(int signal);

// Sends it to all of them.
void signal_busy_threads(int signal);

}  // namespace simt
