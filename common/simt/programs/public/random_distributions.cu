// Poisson and log-normal numbers, in kernels and from the host: their means and variances are those of the
// distribution.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int threads = 128, blocks = 4, each = 16, count = threads * blocks * each;

template <typename State>
__global__ void arrivals(unsigned* out, double rate) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(7, id, 0, &state);
  for (int i = 0; i < each; i++) out[id * each + i] = curand_poisson(&state, rate);
}

__global__ void prices(double* logarithms) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state;
  curand_init(8, id, 0, &state);
  for (int i = 0; i < each; i += 4) {
    double* const to = logarithms + id * each + i;
    to[0] = log(curand_log_normal_double(&state, 1.0, 2.0));
    to[1] = log(curand_log_normal_double(&state, 1.0, 2.0));
    const float2 two = curand_log_normal2(&state, 1.0f, 2.0f);
    to[2] = logf(two.x);
    to[3] = logf(two.y);
  }
}

// Within four standard errors of the mean, and the variance within 8 %.
template <typename T>
bool is_right(const T* device, double mean, double variance) {
  std::vector<T> numbers(count);
  cudaMemcpy(numbers.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0, squares = 0;
  for (const T x : numbers) sum += x;
  for (const T x : numbers) squares += (x - sum / count) * (x - sum / count);
  const bool right = std::fabs(sum / count - mean) < 4 * std::sqrt(variance / count) &&
                     std::fabs(squares / count / variance - 1) < 0.08;
  if (!right)
    std::printf("FAIL: mean %g, variance %g, expected %g and %g\n", sum / count, squares / count, mean, variance);
  return right;
}

int main() {
  unsigned* numbers;
  double* logarithms;
  cudaMalloc(&numbers, count * sizeof *numbers);
  cudaMalloc(&logarithms, count * sizeof *logarithms);
  curandGenerator_t generator;
  bool right = curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS;
  for (const double rate : {0.5, 12.0, 63.0, 200.0}) {
    arrivals<curandState><<<blocks, threads>>>(numbers, rate);
    right &= is_right(numbers, rate, rate);
    arrivals<curandStatePhilox4_32_10_t><<<blocks, threads>>>(numbers, rate);
    right &= is_right(numbers, rate, rate);
    right &= curandGeneratePoisson(generator, numbers, count, rate) == CURAND_STATUS_SUCCESS &&
             is_right(numbers, rate, rate);
  }
  prices<<<blocks, threads>>>(logarithms);
  right &= is_right(logarithms, 1.0, 4.0);
  curandDestroyGenerator(generator);
  std::puts(right && cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
}
