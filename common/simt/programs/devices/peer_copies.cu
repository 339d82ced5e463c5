// Memory of two devices: a copy from one to the other, and a kernel on each that reads the other's. NO_PEER leaves out
// that device 0 may.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "expect.h"

__global__ void twice(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = 2 * in[i];
}

// Wrong use of a device gives CUDA's errors.
void errors(int devices, float* on_0, float* on_1) {
  EXPECT(cudaSetDevice(devices) == cudaErrorInvalidDevice);
  EXPECT(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  EXPECT(cudaGetDeviceProperties(&properties, devices) == cudaErrorInvalidDevice);
  OK(cudaSetDevice(1));
  EXPECT(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaDeviceDisablePeerAccess(0));
  EXPECT(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  EXPECT(cudaMemcpyPeer(on_0, 1, on_1, 0, 4) == cudaErrorInvalidValue);

  cudaStream_t stream;
  cudaEvent_t event;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&event));
  OK(cudaSetDevice(0));
  (void)cudaGetLastError();
  twice<<<1, 1, 0, stream>>>(on_0, on_0, 0);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventRecord(event, 0) == cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(0, event, 0));
  OK(cudaMemcpyAsync(on_1, on_0, 4, cudaMemcpyDefault, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaEventQuery(event));
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
}

int main() {
  int devices = 0, can = 0;
  OK(cudaGetDeviceCount(&devices));
  EXPECT(cudaDeviceCanAccessPeer(&can, 0, devices) == cudaErrorInvalidDevice);
  (void)cudaGetLastError();
  if (devices < 2) return std::puts("PASS"), 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can);

  constexpr int count = 1 << 14, bytes = count * sizeof(float);
  float *a, *b;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, bytes));
#ifndef NO_PEER
  OK(cudaDeviceEnablePeerAccess(1, 0));
#endif
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, bytes));
  OK(cudaDeviceEnablePeerAccess(0, 0));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, b));
  EXPECT(attributes.device == 1);

  std::vector<float> values(count);
  for (int i = 0; i < count; i++) values[i] = i % 1000;
  OK(cudaMemcpy(a, values.data(), bytes, cudaMemcpyDefault));
  OK(cudaMemcpyPeer(b, 1, a, 0, bytes));
  twice<<<count / 256, 256>>>(a, b, count);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaSetDevice(0));
  twice<<<count / 256, 256>>>(b, a, count);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(values.data(), a, bytes, cudaMemcpyDefault));
  for (int i = 0; i < count; i++) EXPECT(values[i] == 4 * (i % 1000));
  errors(devices, a, b);
  OK(cudaFree(a));
  OK(cudaFree(b));
  std::puts("PASS");
}
