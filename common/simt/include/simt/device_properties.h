// What a program can ask about a device. Values of attributes are CUDA's own.
#pragma once

#include <cstddef>

enum cudaDeviceAttr {
#define SIMT_ATTRIBUTE(name, value, property) name = value,
#include "device_attributes.inc"
#undef SIMT_ATTRIBUTE
};

struct cudaUUID_t {
  char bytes[16];
};
using CUuuid = cudaUUID_t;

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor,
      reservedSharedMemPerBlock;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
  int l2CacheSize, clockRate, memoryClockRate, memoryBusWidth;
  size_t totalConstMem;
  int concurrentKernels, cooperativeLaunch, integrated, canMapHostMemory, unifiedAddressing, managedMemory;
  int computeMode, ECCEnabled, asyncEngineCount, deviceOverlap, kernelExecTimeoutEnabled, tccDriver, pciBusID,
      pciDeviceID, pciDomainID, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported,
      isMultiGpuBoard, multiGpuBoardGroupID, singleToDoublePrecisionPerfRatio, pageableMemoryAccess,
      concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      cooperativeMultiDeviceLaunch, hostNativeAtomicSupported, directManagedMemAccessFromHost, persistingL2CacheMaxSize,
      accessPolicyMaxWindowSize, pageableMemoryAccessUsesHostPageTables, hostRegisterSupported,
      hostRegisterReadOnlySupported, sparseCudaArraySupported, timelineSemaphoreInteropSupported, memoryPoolsSupported,
      gpuDirectRDMASupported, gpuDirectRDMAWritesOrdering, deferredMappingCudaArraySupported, ipcEventSupported,
      clusterLaunch, unifiedFunctionPointers;
  unsigned gpuDirectRDMAFlushWritesOptions, memoryPoolSupportedHandleTypes;
  size_t memPitch, textureAlignment, texturePitchAlignment, surfaceAlignment;
  int maxTexture1D, maxTexture1DLinear, maxTexture2D[2], maxTexture2DLinear[3], maxTexture3D[3], maxTexture1DLayered[2],
      maxTexture2DLayered[3], maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2],
      maxSurface2DLayered[3], maxTexture3DAlt[3];
  // There are none of these: 0.
  int maxTextureCubemap, maxTextureCubemapLayered[2], maxSurfaceCubemap, maxSurfaceCubemapLayered[2],
      maxTexture1DMipmap, maxTexture2DMipmap[2], maxTexture2DGather[2];
};
