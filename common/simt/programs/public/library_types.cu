// libcu++ in kernels: arrays, pairs, limits, traits, mathematics and atomics of cuda::std.
#include <cstdio>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/cmath>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

// Per thread the smallest and the largest of four values, the sum of all, and the root of their squares' sum.
template <typename T>
__global__ void summary(const T* in, cuda::std::pair<T, T>* range, double* root, cuda::std::int64_t* sum) {
  static_assert(cuda::std::is_same_v<cuda::std::remove_cvref_t<const T&>, T> && !cuda::std::is_floating_point_v<T>, "");
  const cuda::std::size_t first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  cuda::std::array<T, 4> values{};
  values.fill(T(-1));
  for (cuda::std::size_t i = 0; i < values.size(); i++) values[i] = in[first + i];
  auto found = cuda::std::make_pair(cuda::std::numeric_limits<T>::max(), cuda::std::numeric_limits<T>::lowest());
  double squares = 0;
  for (const T value : values) {
    if (value < found.first) found.first = value;
    if (value > found.second) found.second = value;
    squares += double(value) * value;
  }
  auto [a, b, c, d] = values;
  cuda::std::swap(a, d);
  cuda::std::atomic_ref<cuda::std::int64_t>(*sum).fetch_add(cuda::std::move(a) + b + c + d);
  range[first / 4] = found;
  root[first / 4] = cuda::std::sqrt(squares);
}

int main() {
  const int threads = 64, n = 4 * threads;
  int host[n], *in;
  cuda::std::int64_t expected = 0, sum = 0, *device_sum;
  for (int i = 0; i < n; i++) expected += host[i] = i * 7919 % 1009 - 500;
  cuda::std::pair<int, int> range[threads], *device_range;
  double root[threads], *device_root;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&device_range, sizeof range);
  cudaMalloc(&device_root, sizeof root);
  cudaMalloc(&device_sum, sizeof sum);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(device_sum, 0, sizeof sum);
  summary<<<2, threads / 2>>>(in, device_range, device_root, device_sum);
  cudaMemcpy(range, device_range, sizeof range, cudaMemcpyDeviceToHost);
  cudaMemcpy(root, device_root, sizeof root, cudaMemcpyDeviceToHost);
  cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost);
  bool right = sum == expected;
  for (int t = 0; t < threads; t++) {
    int least = host[4 * t], most = least;
    double squares = 0;
    for (int i = 4 * t; i < 4 * t + 4; i++) {
      least = host[i] < least ? host[i] : least;
      most = host[i] > most ? host[i] : most;
      squares += double(host[i]) * host[i];
    }
    right &= range[t] == cuda::std::make_pair(least, most) && root[t] == std::sqrt(squares);
  }
  std::puts(right && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
