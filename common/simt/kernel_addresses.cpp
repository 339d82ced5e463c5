// Kernels that a program keeps as void*: how each is launched, since its cast to void* (include/simt/launch_kernel.h).
#include <mutex>
#include <unordered_map>

#include "device.h"
#include "refusal.h"

namespace simt {
namespace {

struct Known {
  std::mutex mutex;
  std::unordered_map<const void*, LaunchAddress> kernels;
};
// A program's own variables may be made before this file's.
Known& known() {
  static Known all;
  return all;
}

}  // namespace

void know_kernel(const void* kernel, LaunchAddress launch) {
  const std::lock_guard<std::mutex> lock(known().mutex);
  known().kernels[kernel] = launch;
}

cudaError_t launch_known(const LaunchConfig& config, const void* kernel, void** arguments, bool cooperative) {
  LaunchAddress launch = nullptr;
  {
    const std::lock_guard<std::mutex> lock(known().mutex);
    const auto found = known().kernels.find(kernel);
    if (found != known().kernels.end()) launch = found->second;
  }
  if (launch) return launch(config, kernel, arguments, cooperative);
  refuse_call(
      cudaErrorInvalidDeviceFunction,
      "launch refused: the address is no kernel's that the CPU executor knows\nIt knows those that a file of the "
      "kernel's own casts to void*, as (void*)kernel: write the cast there, or launch the kernel by its name.",
      config.file, config.line);
  return set_last_error(cudaErrorInvalidDeviceFunction);
}

}  // namespace simt
