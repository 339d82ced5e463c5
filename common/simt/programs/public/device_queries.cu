// What deviceQuery and tables of errors ask: attributes beside the properties, and a name and a text for every error.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

static int attribute(cudaDeviceAttr which) {
  int value = -77;
  EXPECT(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
  return value;
}

// A table as programs have it.
static const struct {
  cudaError_t error;
  const char* name;
} table[] = {{cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled"},
             {cudaErrorInvalidTexture, "cudaErrorInvalidTexture"},
             {cudaErrorSynchronizationError, "cudaErrorSynchronizationError"},
             {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable"},
             {cudaErrorInvalidPtx, "cudaErrorInvalidPtx"},
             {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction"},
             {cudaErrorInvalidPc, "cudaErrorInvalidPc"},
             {cudaErrorSystemNotReady, "cudaErrorSystemNotReady"},
             {cudaErrorTimeout, "cudaErrorTimeout"},
             {cudaErrorUnknown, "cudaErrorUnknown"}};

int main() {
  cudaDeviceProp properties;
  EXPECT(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  EXPECT(attribute(cudaDevAttrMaxThreadsPerBlock) == properties.maxThreadsPerBlock);
  EXPECT(attribute(cudaDevAttrMaxBlockDimZ) == properties.maxThreadsDim[2]);
  EXPECT(attribute(cudaDevAttrMaxGridDimY) == properties.maxGridSize[1]);
  EXPECT(attribute(cudaDevAttrHostRegisterSupported) == 1);
  EXPECT(attribute(cudaDevAttrMaxTexture2DLayeredLayers) == properties.maxTexture2DLayered[2]);
  EXPECT(attribute(cudaDevAttrMaxTexture2DLinearPitch) == properties.maxTexture2DLinear[2]);
  EXPECT(attribute(cudaDevAttrMaxSurface3DDepth) == properties.maxSurface3D[2]);
  EXPECT(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == (int)properties.sharedMemPerBlockOptin);
  EXPECT(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) == properties.singleToDoublePrecisionPerfRatio);
  EXPECT(attribute(cudaDevAttrClusterLaunch) == properties.clusterLaunch);
  EXPECT(attribute(cudaDevAttrIpcEventSupport) == properties.ipcEventSupported);
  int known = 0;
  for (int i = 0; i < 200; i++) {
    int value;
    if (cudaDeviceGetAttribute(&value, (cudaDeviceAttr)i, 0) == cudaSuccess) known++;
  }
  EXPECT(known > 110 && known < 150);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaDeviceGetAttribute(&known, cudaDevAttrWarpSize, 99) == cudaErrorInvalidDevice);

  std::set<std::string> names;
  for (int i = 0; i < 1000; i++) {
    const char* const name = cudaGetErrorName((cudaError_t)i);
    if (std::strncmp(name, "cuda", 4) != 0) continue;
    names.insert(name);
    EXPECT(std::strlen(cudaGetErrorString((cudaError_t)i)) > 0);
    EXPECT(i == 0 || std::strcmp(cudaGetErrorString((cudaError_t)i), "no error") != 0);
  }
  EXPECT(names.size() > 120);
  for (const auto& row : table) EXPECT(std::string(cudaGetErrorName(row.error)) == row.name);
  EXPECT(std::string(cudaGetErrorName((cudaError_t)12345)) == "unrecognized error code");
  if (!wrong) std::printf("PASS\n");
  return wrong ? 1 : 0;
}
