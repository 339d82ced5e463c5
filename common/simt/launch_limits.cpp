// Which launches the device takes. CUDA 13.0 on an H200 answers cudaErrorInvalidValue to every launch beyond a limit,
// also where its documentation speaks of cudaErrorInvalidConfiguration.
#include <map>
#include <mutex>
#include <string>

#include "cluster.h"
#include "device.h"
#include "device_limits.h"
#include "launch_bounds.h"
#include "launch_state.h"
#include "module_symbols.h"
#include "module_tls.h"
#include "refusal.h"

namespace simt {

namespace {

std::mutex mutex;

// What cudaFuncSetAttribute allowed, by kernel.
std::map<const void*, size_t>& shared_limits() {
  static auto* limits = new std::map<const void*, size_t>;
  return *limits;
}

// Bytes of the kernel's static shared memory. What it may be at most, all kernels' of the module together, is known
// quickly: `enough` of it need not be known exactly.
size_t static_bytes(const void* function, size_t enough) {
  const size_t together = function ? module_tls(function).bytes : 0;
  if (together <= enough) return together;
  return static_shared_bytes(function);
}

// "48 KiB" is how it is spoken of, bytes are what a program counts.
std::string bytes_text(size_t bytes) {
  std::string text = std::to_string(bytes);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text + " bytes";
}

Excess invalid(const std::string& limit, const std::string& asked) { return {cudaErrorInvalidValue, limit, asked}; }

const char* const how_to_get_more = "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)";

uint64_t threads_of(const LaunchConfig& config) {
  return static_cast<uint64_t>(config.block.x) * config.block.y * config.block.z;
}

Excess dimension_excess(const LaunchConfig& config) {
  const struct {
    const char* name;
    unsigned value, limit;
    const char* cure;
  } dimensions[] = {
      {"grid.x", config.grid.x, max_grid_x, ""},
      {"grid.y", config.grid.y, max_grid_yz, "\nOnly grid.x can be larger: use x for the large dimension."},
      {"grid.z", config.grid.z, max_grid_yz, "\nOnly grid.x can be larger: use x for the large dimension."},
      {"block.x", config.block.x, threads_per_block, ""},
      {"block.y", config.block.y, threads_per_block, ""},
      {"block.z", config.block.z, max_block_z, "\nUse block.x for the large dimension."},
  };
  for (const auto& d : dimensions) {
    if (d.value == 0)
      return invalid(std::string(d.name) + " is 0, and must be at least 1",
                     "was asked for. If there is nothing to do, return without a launch. If a quotient was rounded "
                     "down to 0, round it up: (n + 255) / 256.");
  }
  const uint64_t threads = threads_of(config);
  if (threads > threads_per_block)
    return invalid(
        "more threads than the 1024 that a block can have",
        "asks for " + std::to_string(threads) +
            " threads per block.\nLet each thread do several elements, in a loop with a stride of blockDim.x, or "
            "launch more blocks.");
  for (const auto& d : dimensions) {
    if (d.value > d.limit)
      return invalid(std::string(d.name) + " is above its limit of " + std::to_string(d.limit),
                     std::string("asks for ") + d.name + " = " + std::to_string(d.value) + "." + d.cure);
  }
  return {};
}

bool has_asked_for_shared(const void* function) {
  std::lock_guard<std::mutex> lock(mutex);
  return shared_limits().count(function) > 0;
}

}  // namespace

size_t shared_limit(const void* function) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = shared_limits().find(function);
  return found == shared_limits().end() ? default_shared_bytes : found->second;
}

cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value, const char* file,
                                   int line) {
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) allow_large_clusters(function, value != 0);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  const size_t fixed = value < 0 ? 0 : static_bytes(function, 0);
  if (value < 0 || static_cast<size_t>(value) + fixed > max_shared_bytes) {
    set_last_error(cudaErrorInvalidValue);
    const std::string taken = bytes_text(fixed);
    refuse_call(
        cudaErrorInvalidValue,
        "cudaFuncSetAttribute refused: a block can have " + bytes_text(max_shared_bytes) + " of shared memory" +
            (fixed ? ", and the kernel's __shared__ arrays take " + taken.substr(0, taken.find(' ')) + " of them"
                   : "") +
            "\nIt asks for " + std::to_string(value) + ".",
        file, line);
    return cudaErrorInvalidValue;
  }
  std::lock_guard<std::mutex> lock(mutex);
  shared_limits()[function] = static_cast<size_t>(value);
  return cudaSuccess;
}

Excess beyond_device(const LaunchConfig& config) {
  const Excess excess = dimension_excess(config);
  if (excess.error || config.shared_bytes <= max_shared_bytes) return excess;
  return invalid(
      "more shared memory than the " + bytes_text(max_shared_bytes) + " that a block can have",
      "asks for " + bytes_text(config.shared_bytes) + ".\nKeep less in shared memory, or refuse such a shape.");
}

// Threads are bounded by the kernel's own word. Static shared memory ends at 48 KiB. Beyond that, together with it, a
// kernel must have asked for its dynamic one.
Excess beyond_kernel(const LaunchConfig& config, const void* function) {
  const uint64_t threads = threads_of(config);
  if (const auto allowed = static_cast<uint64_t>(threads_allowed(function)); threads > allowed)
    return invalid("more threads than the " + std::to_string(allowed) + " that the kernel's __launch_bounds__ allow",
                   "asks for " + std::to_string(threads) +
                       " threads per block.\nLaunch smaller blocks, or let the kernel's __launch_bounds__ name the "
                       "largest block that it is launched with.");
  const size_t dynamic = config.shared_bytes, limit = shared_limit(function);
  // Whoever asks, for however little, has what the kernel declares besides.
  const bool has_asked = has_asked_for_shared(function);
  const std::string default_text = bytes_text(default_shared_bytes);
  if (dynamic > limit && !has_asked)
    return invalid("more than " + default_text + " of shared memory, and the kernel has not asked for that",
                   "asks for " + bytes_text(dynamic) + ".\nCall " + how_to_get_more + " before the launch.");
  if (dynamic > limit)
    return invalid("more dynamic shared memory than cudaFuncSetAttribute has allowed for this kernel",
                   "asks for " + bytes_text(dynamic) + "; allowed are " + bytes_text(limit) + ".");
  const size_t for_both = has_asked ? max_shared_bytes : default_shared_bytes;
  const size_t enough = for_both - dynamic < default_shared_bytes ? for_both - dynamic : default_shared_bytes;
  const size_t fixed = static_bytes(function, enough);
  if (fixed > default_shared_bytes)
    return invalid("more than " + default_text + " in the kernel's __shared__ arrays, which nvcc refuses to compile",
                   "is of a kernel with " + bytes_text(fixed) + ".\nBeyond " + default_text +
                       " shared memory must be dynamic: extern __shared__, its size in the launch, and before it " +
                       how_to_get_more + ".");
  if (dynamic + fixed > for_both)
    return invalid("more than " + bytes_text(for_both) + " of static and dynamic shared memory together",
                   "asks for " + bytes_text(dynamic) + ", and the kernel's __shared__ arrays have " +
                       bytes_text(fixed) + "." +
                       (has_asked ? "" : std::string("\nFor more call ") + how_to_get_more + " before the launch."));
  return {};
}

Excess beyond_residence(const LaunchConfig& config, const void* function) {
  const dim3 grid = config.grid, block = config.block;
  const auto threads = static_cast<int>(block.x * block.y * block.z);
  const size_t shared = config.shared_bytes + static_bytes(function, 0);
  int blocks = 0;
  occupancy(&blocks, function, threads, config.shared_bytes);
  const uint64_t wanted = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
  const uint64_t room = static_cast<uint64_t>(blocks) * multiprocessors;
  if (wanted <= room) return {};
  return {cudaErrorCooperativeLaunchTooLarge, "a cooperative launch with more blocks than the device can hold at once",
          "asks for " + std::to_string(wanted) + " blocks; " + std::to_string(blocks) + " of " +
              std::to_string(threads) + " threads and " + bytes_text(shared) + " of shared memory fit on an SM, " +
              std::to_string(room) + " on all " + std::to_string(multiprocessors) +
              " SMs.\nLaunch as many as cudaOccupancyMaxActiveBlocksPerMultiprocessor allows, and let each do several "
              "parts."};
}

}  // namespace simt
