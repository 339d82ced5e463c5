// Random numbers made by the host's calls and by Thrust's engines, as Monte Carlo programs and benchmarks of matrix
// products have them.
#include <cuda_runtime.h>
#include <curand.h>
#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/random.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct InCircle {
  __host__ __device__ float operator()(unsigned seed) const {
    thrust::default_random_engine engine(seed);
    engine.discard(seed);
    thrust::uniform_real_distribution<float> u01(0, 1);
    int inside = 0;
    for (int i = 0; i < 100; i++) {
      const float x = u01(engine), y = u01(engine);
      inside += x * x + y * y <= 1.0f;
    }
    return 4.0f * inside / 100;
  }
};

// How many steps a point of the plane takes to leave a circle of radius 2.
__global__ void mandelbrot(int* steps, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const thrust::complex<float> c(-2.0f + 3.0f * x / width, -1.0f + 2.0f * y / height);
  thrust::complex<float> z = 0.0f;
  int n = 0;
  while (n < 50 && thrust::norm(z) < 4.0f) {
    z = z * z + c;
    n++;
  }
  steps[y * width + x] = n;
}

static int failures = 0;
static void check(bool right, const char* what) {
  if (!right) std::printf("FAIL: %s\n", what), failures++;
}

// Mean and standard deviation of an array of the device.
static void moments(const float* device, size_t n, double* mean, double* deviation) {
  std::vector<float> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0, squares = 0;
  for (const float x : host) sum += x, squares += static_cast<double>(x) * x;
  *mean = sum / n;
  *deviation = std::sqrt(squares / n - *mean * *mean);
}

int main() {
  const size_t n = 100000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  curandGenerator_t generator;
  check(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS, "a generator");
  curandSetPseudoRandomGeneratorSeed(generator, 1234ULL);
  double mean, deviation;
  check(curandGenerateUniform(generator, x, n) == CURAND_STATUS_SUCCESS, "uniform");
  moments(x, n, &mean, &deviation);
  check(std::fabs(mean - 0.5) < 0.005 && std::fabs(deviation - std::sqrt(1.0 / 12)) < 0.005, "uniform's moments");
  check(curandGenerateNormal(generator, x, n, 3.0f, 2.0f) == CURAND_STATUS_SUCCESS, "normal");
  moments(x, n, &mean, &deviation);
  check(std::fabs(mean - 3) < 0.03 && std::fabs(deviation - 2) < 0.03, "normal's moments");
  check(curandGenerateNormal(generator, x, 7, 0.0f, 1.0f) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "an odd count");
  check(curandGenerateUniform(generator, x, 1) == CURAND_STATUS_SUCCESS, "a single number");
  // The same seed, the same numbers; other numbers with each call.
  std::vector<unsigned> first(100), second(100), again(100);
  curandGenerator_t host;
  curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_XORWOW);
  curandSetPseudoRandomGeneratorSeed(host, 7);
  curandGenerate(host, first.data(), 100);
  curandGenerate(host, second.data(), 100);
  curandSetPseudoRandomGeneratorSeed(host, 7);
  curandGenerate(host, again.data(), 100);
  check(first == again && first != second, "the seed decides");
  curandGenerator_t quasi;
  check(curandCreateGenerator(&quasi, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR, "no quasi-random numbers");
  check(curandGenerateUniform(host, first.empty() ? nullptr : x, 0) == CURAND_STATUS_SUCCESS, "no numbers");
  curandDestroyGenerator(host);
  curandDestroyGenerator(generator);

  const float pi =
      thrust::transform_reduce(thrust::counting_iterator<unsigned>(0), thrust::counting_iterator<unsigned>(400),
                               InCircle(), 0.0f, thrust::plus<float>()) /
      400;
  check(std::fabs(pi - 3.14159f) < 0.05f, "pi");
  // The C++ standard fixes the 10,000th number of this engine.
  thrust::minstd_rand standard;
  standard.discard(9999);
  check(standard() == 399268537u, "the 10,000th number");
  thrust::minstd_rand0 older;
  for (int i = 0; i < 9999; i++) older();
  check(older() == 1043618065u, "the 10,000th number of the older engine");
  thrust::normal_distribution<float> normal(1.0f, 0.5f);
  thrust::uniform_int_distribution<int> die(1, 6);
  double sum = 0;
  int faces[8] = {};
  for (int i = 0; i < 6000; i++) sum += normal(standard), faces[die(standard)]++;
  check(std::fabs(sum / 6000 - 1) < 0.03, "normal's mean");
  for (int face = 1; face <= 6; face++) check(faces[face] > 850 && faces[face] < 1150, "a fair die");
  check(faces[0] == 0 && faces[7] == 0, "no other faces");

  const int width = 96, height = 32;
  thrust::device_vector<int> steps(width * height);
  mandelbrot<<<dim3(3, height), 32>>>(thrust::raw_pointer_cast(steps.data()), width, height);
  const thrust::complex<double> i(0, 1), e = thrust::exp(i * 3.141592653589793);
  check(std::fabs(e.real() + 1) < 1e-12 && thrust::abs(e / i - i) < 1e-12, "complex functions");
  check(steps[16 * width + 64] == 50 && steps[0] == 1, "the set");
  std::printf("%s\n", failures ? "FAIL" : "PASS");
  return failures != 0;
}
