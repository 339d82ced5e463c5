// Smaller pieces of Thrust and CUB, and headers that programs name beside cuda_runtime.h.
#include <channel_descriptor.h>
#include <crt/host_defines.h>
#include <cub/cub.cuh>
#include <cudaProfiler.h>
#include <curand_uniform.h>
#include <texture_fetch_functions.h>
#include <texture_types.h>
#include <thrust/advance.h>
#include <thrust/device_delete.h>
#include <thrust/device_new.h>
#include <thrust/device_vector.h>
#include <thrust/distance.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/limits.h>
#include <thrust/mismatch.h>
#include <thrust/reduce.h>
#include <thrust/swap.h>
#include <thrust/system/cpp/execution_policy.h>
#include <thrust/system/cuda/vector.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/uninitialized_copy.h>
#include <thrust/uninitialized_fill.h>

#include <cstdio>
#include <type_traits>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};
struct IsNear {
  __host__ __device__ bool operator()(int a, int b) const { return a - b < 2 && b - a < 2; }
};

template <typename In>
float sum(In in, int count) {
  float *to, found = 0;
  cudaMalloc(&to, sizeof *to);
  void* work = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(work, bytes, in, to, count);
  cudaMalloc(&work, bytes);
  cub::DeviceReduce::Sum(work, bytes, in, to, count);
  cudaMemcpy(&found, to, sizeof found, cudaMemcpyDeviceToHost);
  cudaFree(to);
  cudaFree(work);
  return found;
}

int main() {
  EXPECT(cuProfilerStart() == CUDA_SUCCESS && cuProfilerStop() == CUDA_SUCCESS);
  EXPECT(cudaThreadSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess);
  const int n = 50;
  thrust::device_vector<int> one(n), other(n);
  for (int i = 0; i < n; i++) one[i] = other[i] = i;
  other[20] = 21;
  other[30] = 33;
  auto places = thrust::mismatch(one.begin(), one.end(), other.begin());
  EXPECT(places.first - one.begin() == 20 && places.second - other.begin() == 20);
  places = thrust::mismatch(thrust::device, one.begin(), one.end(), other.begin(), IsNear());
  EXPECT(thrust::distance(one.begin(), places.first) == 30);
  EXPECT(thrust::mismatch(one.begin(), one.end(), one.begin()).first == one.end());
  auto it = one.begin();
  thrust::advance(it, 7);
  EXPECT(*it == 7 && *thrust::next(it) == 8 && *thrust::prev(it, 2) == 5);
  thrust::swap(one, other);
  EXPECT(one[30] == 33 && other[30] == 30);
  static_assert(std::is_same<thrust::iterator_traits<decltype(it)>::value_type, int>::value, "");
  static_assert(std::is_same<thrust::iterator_value<const float*>::type, float>::value, "");
  const thrust::device_ptr<int> items = thrust::device_new<int>(5, 9);
  EXPECT(thrust::reduce(items, items + 5) == 45);
  thrust::uninitialized_fill(items, items + 5, 3);
  thrust::uninitialized_copy(one.begin(), one.begin() + 2, items);
  EXPECT(items[0] == 0 && items[1] == 1 && items[2] == 3);
  thrust::device_delete(items, 5);
  std::vector<int> host{1, 2, 3};
  EXPECT(thrust::reduce(thrust::omp::par, host.begin(), host.end()) == 6);
  EXPECT(thrust::reduce(thrust::cpp::par, host.begin(), host.end()) == 6);

  std::vector<float> values(n);
  for (int i = 0; i < n; i++) values[i] = float(i);
  float* device;
  cudaMalloc(&device, n * sizeof(float));
  cudaMemcpy(device, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cub::TransformInputIterator<float, Square, const float*> squares(device, Square());
  EXPECT(sum(squares, n) == 40425);
  EXPECT(sum(squares + 48, 2) == 48 * 48 + 49 * 49);
  EXPECT(sum(cub::CountingInputIterator<int>(5), 4) == 5 + 6 + 7 + 8);
  EXPECT(sum(cub::ConstantInputIterator<float>(0.5f), 10) == 5);
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong;
}
