// The device that the executor models, and the last error.
#pragma once

#include <cuda_runtime.h>

namespace simt {

// The error that CUDA returns for a launch beyond the device's limits, and beyond those of its kernel.
cudaError_t check_launch_limits(const LaunchConfig& config);
cudaError_t check_launch(const LaunchConfig& config, const void* function);

// A cooperative launch needs room for all of its blocks at once.
cudaError_t check_cooperative_launch(const LaunchConfig& config);

// Remembers an error for cudaGetLastError; returns it.
cudaError_t set_last_error(cudaError_t error);

}  // namespace simt
