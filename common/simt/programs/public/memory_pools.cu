// Memory in the order of a stream, from a pool of the program's own; and a universal vector.
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/universal_vector.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void add_one(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i]++;
}

int main() {
  int device = 0, supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  constexpr int n = 2000;
  std::vector<float> a(n, 1), b(n, 2), c(n);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  unsigned long long threshold = ULONG_MAX, used = 1;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, (void*)&threshold));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int round = 0; round < 3; round++) {
    float *x, *y, *z;
    CHECK(cudaMallocFromPoolAsync((void**)&x, n * sizeof(float), pool, stream));
    CHECK(cudaMallocAsync(&y, n * sizeof(float), pool, stream));
    CHECK(cudaMallocAsync(&z, n * sizeof(float), stream));
    CHECK(cudaMemcpyAsync(x, a.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(y, b.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    add<<<(n + 255) / 256, 256, 0, stream>>>(x, y, z, n);
    CHECK(cudaFreeAsync(x, stream));
    CHECK(cudaFreeAsync(y, stream));
    CHECK(cudaMemcpyAsync(c.data(), z, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(z, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolDestroy(pool));
  bool right = supported && used == 0;
  for (const float each : c) right = right && each == 3;

  thrust::universal_vector<int> values(100);
  thrust::sequence(values.begin(), values.end());
  add_one<<<1, 128>>>(thrust::raw_pointer_cast(values.data()), 100);
  CHECK(cudaDeviceSynchronize());
  int sum = 0;
  for (const int value : values) sum += value;
  values[0] += 10;
  right = right && sum == 5050 && thrust::reduce(thrust::device, values.begin(), values.end()) == 5060;
  std::puts(right ? "PASS" : "FAIL");
}
