#include "children.h"

#include <algorithm>
#include <new>

#include "block.h"

namespace simt {

std::shared_ptr<std::byte[]> copy_of_arguments(const BoundKernel& kernel) {
  const auto* const bytes = static_cast<const std::byte*>(kernel.arguments);
  std::shared_ptr<std::byte[]> arguments(new (std::align_val_t{64}) std::byte[kernel.argument_bytes],
                                         [](std::byte* memory) { operator delete[](memory, std::align_val_t{64}); });
  std::copy(bytes, bytes + kernel.argument_bytes, arguments.get());
  return arguments;
}

void Children::add(uint64_t block, const LaunchConfig& config, const BoundKernel& kernel) {
  ChildLaunch child = {block, config, kernel, copy_of_arguments(kernel)};
  child.kernel.arguments = child.arguments.get();
  std::lock_guard<std::mutex> lock(mutex_);
  launched_.push_back(std::move(child));
}

std::vector<ChildLaunch> Children::take() {
  std::vector<ChildLaunch> taken = std::move(launched_);
  std::stable_sort(taken.begin(), taken.end(), [](const ChildLaunch& a, const ChildLaunch& b) {
    const bool a_last = a.config.stream == cudaStreamTailLaunch, b_last = b.config.stream == cudaStreamTailLaunch;
    return a_last != b_last ? b_last : a.block < b.block;
  });
  return taken;
}

void Block::add_child(const LaunchConfig& config, const BoundKernel& kernel) {
  const dim3& grid = launch_->config.grid;
  launch_->children.add((uint64_t{index_.z} * grid.y + index_.y) * grid.x + index_.x, config, kernel);
}

}  // namespace simt
