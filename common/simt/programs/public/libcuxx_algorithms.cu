// libcu++'s algorithms in kernels, on a thread's own items and on an array of the device's.
#include <cuda/std/algorithm>
#include <cuda/std/array>
#include <cuda/std/cfloat>
#include <cuda/std/climits>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/numeric>

#include <cstdio>

constexpr int n = 100;

struct Twice {
  __device__ int operator()(int value) const { return 2 * value; }
};

__global__ void use(const int* sorted, int* out) {
  cuda::std::array<int, 8> own;
  cuda::std::iota(own.begin(), own.end(), 1);
  cuda::std::reverse(own.begin(), own.end());
  out[0] = own[0] * 10 + own[7];
  cuda::std::transform(own.begin(), own.end(), own.begin(), Twice());
  out[1] = cuda::std::accumulate(own.begin(), own.end(), 0);
  out[2] = static_cast<int>(cuda::std::max_element(own.begin(), own.end()) - own.begin());
  out[3] = *cuda::std::min_element(own.begin(), own.end(), cuda::std::greater<int>());
  out[4] = cuda::std::clamp(7, 1, 5) + cuda::std::min(2, 3) + cuda::std::max(2, 3);
  out[5] = static_cast<int>(cuda::std::lower_bound(sorted, sorted + n, 50) - sorted);
  out[6] = static_cast<int>(cuda::std::upper_bound(sorted, sorted + n, 50) - sorted);
  out[7] = static_cast<int>(cuda::std::find(sorted, sorted + n, 4) - sorted);
  int copies[8];
  cuda::std::copy(own.begin(), own.end(), copies);
  out[8] = cuda::std::equal(own.begin(), own.end(), copies);
  cuda::std::fill(copies, copies + 8, 3);
  out[9] = cuda::std::inner_product(copies, copies + 8, own.begin(), 0);
  cuda::std::memset(copies, 0, sizeof copies);
  out[10] = copies[7] + (INT_MAX > 0 && FLT_MAX > 1);
}

int main() {
  int *sorted, *out;
  cudaMallocManaged(&sorted, n * sizeof(int));
  cudaMallocManaged(&out, 11 * sizeof(int));
  for (int i = 0; i < n; i++) sorted[i] = i / 2 * 2;  // each even number twice
  use<<<1, 1>>>(sorted, out);
  const cudaError_t error = cudaDeviceSynchronize();
  const int right[11] = {81, 72, 0, 16, 10, 50, 52, 4, 1, 216, 1};
  int wrong = error != cudaSuccess;
  for (int i = 0; i < 11; i++)
    if (out[i] != right[i]) std::printf("%d: %d, not %d\n", i, out[i], right[i]), wrong++;
  std::printf(wrong ? "FAIL\n" : "PASS\n");
  return wrong;
}
