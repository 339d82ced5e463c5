// The device that the executor models: an H200's figures, as cudaGetDeviceProperties returns them there. They do not
// depend on the CPU, so neither does what a kernel computes.
#pragma once

#include <cstddef>

namespace simt {

constexpr int multiprocessors = 132;
constexpr int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32, threads_per_block = 1024;
constexpr size_t default_shared_bytes = 48 * 1024, shared_bytes_per_multiprocessor = 228 * 1024,
                 reserved_shared_bytes = 1024;
constexpr int l2_bytes = 60 * 1024 * 1024;
constexpr unsigned max_grid_x = 2147483647, max_grid_yz = 65535, max_block_z = 64;

}  // namespace simt
