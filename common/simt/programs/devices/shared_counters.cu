// Kernels of all devices that count in shared memory for seconds and store nothing else meanwhile: they wait for
// nobody.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void count(int* out, int rounds) {
  __shared__ int bins[32];
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < rounds; i++) atomicAdd(&bins[(threadIdx.x + i) % 32], 1);
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
  constexpr int rounds = 32 * 300, most = 16;
  int devices = 0, *out[most];
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices > most) return 1;
  for (int d = 0; d < devices; d++) {
    cudaSetDevice(d);
    cudaMalloc(&out[d], 32 * sizeof(int));
    count<<<1, 64>>>(out[d], rounds);
  }
  for (int d = 0; d < devices; d++) {
    int bins[32] = {};
    cudaSetDevice(d);
    cudaMemcpy(bins, out[d], sizeof bins, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
      if (bins[i] != 2 * rounds) return std::printf("FAIL: device %d, bin %d: %d\n", d, i, bins[i]), 1;
    }
  }
  std::puts("PASS");
}
