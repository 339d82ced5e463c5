// The executor's own benchmark: softmax of 64 x 4096 fp32 on the CPU, one block a row, beside the same passes in plain
// serial C++. A thread of a 256-thread block makes three passes over global memory, 16 warp shuffles and 3 barriers.
#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "machine.h"
#include "simt.h"
#include "timing.h"

namespace {

constexpr int rows = 64, cols = 4096;
constexpr size_t count = size_t{rows} * cols;
constexpr int repeats = 41;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines the values of `width` neighbouring threads; all of them get the result. log2(width) shuffles.
template <int width, typename Combine>
__device__ float reduce(float value, Combine combine) {
  for (int distance = width / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// Combines the values of a block; every thread gets the result. One barrier; the caller puts another before it uses
// `partial` again.
template <int threads, typename Combine>
__device__ float block_reduce(float value, float* partial, Combine combine) {
  constexpr int warps = threads / 32;
  value = reduce<32>(value, combine);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  return reduce<warps>(partial[threadIdx.x % warps], combine);
}

// x, y: (rows, cols). Block r turns row r of x into row r of y.
template <int threads>
__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float partial[threads / 32];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  float max = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += threads) max = fmaxf(max, x[c]);
  max = block_reduce<threads>(max, partial, Max());
  __syncthreads();

  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += threads) sum += expf(x[c] - max);
  const float scale = 1 / block_reduce<threads>(sum, partial, Add());

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = expf(x[c] - max) * scale;
}

// The same passes on one core, without the executor.
void serial_softmax(const float* x, float* y) {
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    float max = -FLT_MAX;
    for (int c = 0; c < cols; c++) max = std::max(max, x[c]);
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += std::exp(x[c] - max);
    const float scale = 1 / sum;
    for (int c = 0; c < cols; c++) y[c] = std::exp(x[c] - max) * scale;
  }
}

// Median seconds of one call, after two that warm up.
template <typename Function>
double median_seconds(const Function& function) {
  for (int i = 0; i < 2; i++) function();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; i++) seconds.push_back(bench::seconds_of(function));
  return bench::summarise(seconds).median;
}

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench_simt: %s\n", cudaGetErrorString(error));
  std::exit(2);
}

// Ends the program if the device's result is not the serial one: both are fp32, and sum in different orders.
void require_equal(const std::vector<float>& expected, const float* device) {
  std::vector<float> got(count);
  require(cudaMemcpy(got.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < count; i++) {
    if (std::fabs(got[i] - expected[i]) <= 1e-4f * expected[i]) continue;
    std::fprintf(stderr, "bench_simt: wrong result in row %zu, column %zu: expected %g, got %g\n", i / cols, i % cols,
                 expected[i], got[i]);
    std::exit(1);
  }
}

template <int threads>
void measure(const float* x, float* y, const std::vector<float>& expected, double serial) {
  std::printf("executor, %4d threads a block", threads);
  double one_core = 0;
  for (int cores = 1; cores <= 2; cores++) {
    simt::set_cores(cores);
    require(cudaMemset(y, 0xff, count * sizeof(float)));  // NaN, so that nothing left from before can pass
    const double seconds = median_seconds([&] {
      softmax_kernel<threads><<<rows, threads>>>(x, y);
      require(cudaGetLastError());
      require(cudaDeviceSynchronize());
    });
    require_equal(expected, y);
    std::printf("  %7.2f ms (%5.2fx)", seconds * 1e3, seconds / serial);
    if (cores == 1)
      one_core = seconds;
    else
      std::printf("  %8.2fx\n", one_core / seconds);
  }
}

}  // namespace

int main() {
  std::vector<float> input(count), expected(count);
  std::mt19937 bits(1);
  std::normal_distribution<float> normal(0, 3);
  for (float& value : input) value = normal(bits);

  float *x = nullptr, *y = nullptr;
  require(cudaMalloc(&x, count * sizeof(float)));
  require(cudaMalloc(&y, count * sizeof(float)));
  require(cudaMemcpy(x, input.data(), count * sizeof(float), cudaMemcpyHostToDevice));

  std::printf("softmax %d x %d fp32, three passes over memory; median of %d calls; (n x): n times the serial time\n",
              rows, cols, repeats);
  std::printf("%s\n\n", bench::machine_name().c_str());
  std::printf("%-29s  %18s  %18s  %9s\n", "", "one core", "two cores", "speed-up");
  const double serial = median_seconds([&] { serial_softmax(input.data(), expected.data()); });
  std::printf("%-29s  %7.2f ms ( 1.00x)\n", "plain serial C++", serial * 1e3);
  measure<256>(x, y, expected, serial);
  measure<1024>(x, y, expected, serial);
  if (bench::cores() < 2)
    std::printf("\nThis process may use only one core: the two workers of the second column share it.\n");

  cudaFree(x);
  cudaFree(y);
}
