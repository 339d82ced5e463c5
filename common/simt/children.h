// Dynamic parallelism: the grids that a kernel's threads launch. They begin when the kernel that launches them has
// ended, which CUDA allows: since CUDA 12 a kernel cannot wait for the grids that it launches.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace simt {

// A copy of a kernel's arguments that outlives the launch.
std::shared_ptr<std::byte[]> copy_of_arguments(const BoundKernel& kernel);

struct ChildLaunch {
  uint64_t block;  // of the parent, whose threads launch in the order in which they run
  LaunchConfig config;
  BoundKernel kernel;
  std::shared_ptr<std::byte[]> arguments;
};

class Children {
 public:
  void add(uint64_t block, const LaunchConfig& config, const BoundKernel& kernel);
  // In the order in which one core would launch them; those of the tail stream come last.
  std::vector<ChildLaunch> take();

 private:
  std::mutex mutex_;
  std::vector<ChildLaunch> launched_;
};

}  // namespace simt
