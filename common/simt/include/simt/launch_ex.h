// cudaLaunchKernelEx: a launch with attributes. Attributes that group blocks or make them resident are honoured. Those
// that only order or hint (priorities, programmatic launches, cache windows) have no effect here, where a kernel ends
// before the next one begins.
#pragma once

#include "launch_kernel.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8,
  cudaLaunchAttributeMemSyncDomain = 10,
  cudaLaunchAttributePreferredClusterDimension = 11,
  cudaLaunchAttributePreferredSharedMemoryCarveout = 14
};
enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyDefault,
  cudaClusterSchedulingPolicySpread,
  cudaClusterSchedulingPolicyLoadBalancing
};

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned int x, y, z;
  } clusterDim;
  cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  int priority;
  unsigned int sharedMemCarveout;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

namespace simt {

struct ExtendedConfig {
  LaunchConfig config;
  bool cooperative = false;
};

inline ExtendedConfig extended(const cudaLaunchConfig_t& given, const char* file, int line) {
  ExtendedConfig all = {{given.gridDim, given.blockDim, given.dynamicSmemBytes, given.stream, file, line}};
  for (unsigned i = 0; i < given.numAttrs; i++) {
    const auto& [id, value] = given.attrs[i];
    if (id == cudaLaunchAttributeCooperative) all.cooperative = value.cooperative != 0;
    if (id == cudaLaunchAttributeClusterDimension)
      all.config.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
  }
  return all;
}

inline cudaError_t launch(const ExtendedConfig& given, const BoundKernel& kernel) {
  return given.cooperative ? launch_cooperative(given.config, kernel) : launch(given.config, kernel);
}

template <typename Call>
cudaError_t launch_or_capture(const ExtendedConfig& given, const Call& call, const void* function) {
  if (!is_capturing(given.config.stream)) return launch(given, call.bind(by_address, function));
  return add_captured(given.config.stream, new_captured([given, call, function] {
                        ExtendedConfig now = given;
                        now.config.stream = replay_stream();
                        return launch(now, call.bind(by_address, function));
                      }));
}

}  // namespace simt

// Arguments are converted to the kernel's parameters, as in a launch.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
  return [&](std::decay_t<Parameters>... parameters) {
    return simt::launch_or_capture(simt::extended(*config, nullptr, 0),
                                   simt::bound_call(simt::on_device(kernel), kernel, parameters...),
                                   reinterpret_cast<const void*>(kernel));
  }(std::forward<Arguments>(arguments)...);
}
template <typename... Parameters>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), void** arguments,
                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_or_capture(simt::extended(*config, file, line), simt::bound_kernel(kernel, arguments),
                                 reinterpret_cast<const void*>(kernel));
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments,
                                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const simt::ExtendedConfig all = simt::extended(*config, file, line);
  return simt::launch_known(all.config, kernel, arguments, all.cooperative);
}

namespace simt {
cudaError_t clusters_at_once(int* clusters, dim3 cluster, const void* kernel, int block_threads,
                             size_t dynamic_shared_bytes);
cudaError_t largest_cluster(int* blocks, const void* kernel, int block_threads, size_t dynamic_shared_bytes);
}  // namespace simt

// An upper bound of the number of clusters that the device holds at once (cluster.cpp).
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel* kernel, const cudaLaunchConfig_t* config) {
  const dim3 block = config->blockDim;
  return simt::clusters_at_once(clusters, simt::extended(*config, nullptr, 0).config.cluster,
                                reinterpret_cast<const void*>(kernel), static_cast<int>(block.x * block.y * block.z),
                                config->dynamicSmemBytes);
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, Kernel* kernel, const cudaLaunchConfig_t* config) {
  const dim3 block = config->blockDim;
  return simt::largest_cluster(blocks, reinterpret_cast<const void*>(kernel),
                               static_cast<int>(block.x * block.y * block.z), config->dynamicSmemBytes);
}

// Nothing to wait for: the kernel before this one has ended.
__device__ inline void cudaGridDependencySynchronize() {}
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {}
