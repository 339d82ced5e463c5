// Lab 06, given: the device's properties that a launch needs, and the launch itself.
#pragma once

#include <cuda_runtime.h>

constexpr int most_warps = 32;  // of a block

// choose() gives few packs to few threads. Where the compiler knows that, 6 packs of floats need 40 registers instead
// of 52, and 8 blocks of 192 threads are resident instead of 6.
constexpr int threads_with(int packs) { return packs > 6 ? 32 * most_warps : 16 * most_warps; }
// Blocks of so many threads that an SM must have room for; 0: the compiler decides. With 6 packs of bf16 it would take
// 64 registers instead of 40, and many rows would take a tenth longer.
constexpr int resident_with(int packs) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return packs == 6 ? 3 : 0;
#else
  (void)packs;
  return 0;
#endif
}

// The same for labs 08 and 08c. The compiler would give a thread with 8 packs of halves 98 registers, and one block of
// 512 threads would fill the SM.
constexpr int room_with(int places, int most_threads) { return places >= 6 && most_threads == 512 ? 2 : 0; }

// Threads of an SM for which there are registers, if each holds so many packs: as ptxas gives them on Hopper.
inline int resident_threads(int element_bytes, int packs) {
  if (element_bytes == 4) return packs <= 4 ? 2048 : packs <= 6 ? 1536 : 1024;
  return packs <= 2 ? 2048 : packs == 3 || packs == 6 ? 1536 : 1024;
}

struct Device {
  int processors, l2_bytes, shared_bytes;  // shared: that a block can have
  bool hopper;                             // or later: there is a copy engine
  bool clusters;
};

cudaError_t ask(Device& device) {
  int number = 0, major = 0;
  cudaError_t error = cudaGetDevice(&number);
  const auto get = [&](int& value, cudaDeviceAttr attribute) {
    if (!error) error = cudaDeviceGetAttribute(&value, attribute, number);
  };
  get(device.processors, cudaDevAttrMultiProcessorCount);
  get(device.l2_bytes, cudaDevAttrL2CacheSize);
  get(device.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  get(major, cudaDevAttrComputeCapabilityMajor);
  device.hopper = device.clusters = major >= 9;
#ifdef __SIMT__
  device.clusters = false;
#endif
  return error;
}

// How many blocks a cluster of this kernel can have here, at most `wanted`: more than 8 not every device can. 1 without
// clusters.
template <typename... Parameters>
cudaError_t largest_cluster(void (*kernel)(Parameters...), int wanted, int threads, const Device& device, int& blocks) {
  blocks = device.clusters ? wanted : 1;
  if (blocks <= 8) return cudaSuccess;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int most = 0;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (!error) error = cudaOccupancyMaxPotentialClusterSize(&most, kernel, &config);
  if (most < blocks) blocks = 8;
  return error;
}

// Launches `blocks` blocks in clusters of `cluster`. From Hopper on they may start early: see
// wait_for_kernel_before().
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t blocks, int threads, size_t shared_bytes, int cluster,
                   const Device& device, cudaStream_t stream, Arguments... arguments) {
#ifdef __SIMT__
  (void)cluster, (void)device;
  cudaError_t error = cudaSuccess;
  if (shared_bytes > 32 * 1024)  // with of_warp, 48 KB need no permission
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (error) return error;
  SIMT_LAUNCH((kernel), (static_cast<unsigned>(blocks), threads, shared_bytes, stream))(arguments...);
  return cudaGetLastError();
#else
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = !device.hopper ? 0 : cluster > 1 ? 2 : 1;
  cudaError_t error = cudaSuccess;
  if (shared_bytes > 32 * 1024)  // with of_warp, 48 KB need no permission
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (!error && cluster > 8)  // more than every Hopper chip guarantees
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return error ? error : cudaLaunchKernelEx(&config, kernel, arguments...);
#endif
}
