// cuRAND's host interface: arrays of random numbers, in device memory, or in host memory for a generator of the host.
// The distributions are CUDA's. The numbers are not: all generators draw from Philox here, so that a seed and an offset
// give the same numbers whatever the generator is called. Quasi-random sequences are refused. No kernel is launched:
// what a GPU would spend on it is neither counted nor predicted.
#pragma once
#define CURAND_H_  // which other headers test
#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 4
#define CURAND_VER_PATCH 0
#define CURAND_VER_BUILD 0
#define CURAND_VERSION (CURAND_VER_MAJOR * 1000 + CURAND_VER_MINOR * 100 + CURAND_VER_PATCH)

#include <cmath>
#include <new>
#include <vector>

#include "cuda_runtime.h"
#include "curand_kernel.h"

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
enum curandRngType_t {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
enum curandOrdering_t {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};
typedef curandStatus_t curandStatus;
typedef curandRngType_t curandRngType;
typedef curandOrdering_t curandOrdering;

struct curandGenerator_st {
  bool of_host;
  unsigned long long seed = 0, drawn = 0;  // number of draws of four 32-bit words, the offset included
  cudaStream_t stream = nullptr;
};
typedef curandGenerator_st* curandGenerator_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  if (type < CURAND_RNG_PSEUDO_DEFAULT || type >= CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
  *generator = new (std::nothrow) curandGenerator_st{false};
  return *generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  const curandStatus_t status = curandCreateGenerator(generator, type);
  if (status == CURAND_STATUS_SUCCESS) (*generator)->of_host = true;
  return status;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->drawn = 0;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->drawn = offset;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t) {
  return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
inline curandStatus_t curandGetVersion(int* version) {
  *version = 10400;
  return CURAND_STATUS_SUCCESS;
}

namespace simt {

// Fills `to` with `count` numbers. make(four 32-bit words, numbers) turns one draw into `each` numbers.
template <int each, typename T, typename Make>
curandStatus_t draw(curandGenerator_t generator, T* to, size_t count, const Make& make) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  const uint2 key = make_uint2(static_cast<unsigned>(generator->seed), static_cast<unsigned>(generator->seed >> 32));
  std::vector<T> numbers(count);
  for (size_t i = 0; i < count; i += each) {
    const unsigned long long at = generator->drawn++;
    T drawn[each];
    make(curand_Philox4x32_10(make_uint4(static_cast<unsigned>(at), static_cast<unsigned>(at >> 32), 0, 0), key),
         drawn);
    for (size_t j = 0; j < each && i + j < count; j++) numbers[i + j] = drawn[j];
  }
  const cudaMemcpyKind kind = generator->of_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  // Pageable memory: it is copied before the call returns.
  const cudaError_t error =
      count ? cudaMemcpyAsync(to, numbers.data(), count * sizeof(T), kind, generator->stream) : cudaSuccess;
  if (!error) cudaStreamSynchronize(generator->stream);
  return error ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

template <typename Make>
curandStatus_t draw_normal(curandGenerator_t generator, float* to, size_t count, const Make& make) {
  if (count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return draw<4>(generator, to, count, [&](uint4 x, float* numbers) {
    const float2 low = normal_of(x.x, x.y), high = normal_of(x.z, x.w);
    const float four[4] = {low.x, low.y, high.x, high.y};
    for (int i = 0; i < 4; i++) numbers[i] = make(four[i]);
  });
}
template <typename Make>
curandStatus_t draw_normal(curandGenerator_t generator, double* to, size_t count, const Make& make) {
  if (count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return draw<2>(generator, to, count, [&](uint4 x, double* numbers) {
    const double2 two = normal_of(x);
    numbers[0] = make(two.x);
    numbers[1] = make(two.y);
  });
}

}  // namespace simt

inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* to, size_t count) {
  return simt::draw<4>(generator, to, count, [](uint4 x, unsigned* numbers) {
    for (unsigned i = 0; i < 4; i++) numbers[i] = simt::at(x, i);
  });
}
inline curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* to, size_t count) {
  return simt::draw<2>(generator, to, count, [](uint4 x, unsigned long long* numbers) {
    numbers[0] = static_cast<unsigned long long>(x.y) << 32 | x.x;
    numbers[1] = static_cast<unsigned long long>(x.w) << 32 | x.z;
  });
}
// Numbers above 0, up to and including 1.
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to, size_t count) {
  return simt::draw<4>(generator, to, count, [](uint4 x, float* numbers) {
    for (unsigned i = 0; i < 4; i++) numbers[i] = simt::uniform_of(simt::at(x, i));
  });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* to, size_t count) {
  return simt::draw<2>(generator, to, count, [](uint4 x, double* numbers) {
    numbers[0] = simt::uniform_of(x.x, x.y);
    numbers[1] = simt::uniform_of(x.z, x.w);
  });
}
// The count must be even, as cuRAND requires for pseudo-random generators.
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to, size_t count, float mean,
                                           float deviation) {
  return simt::draw_normal(generator, to, count, [=](float x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* to, size_t count, double mean,
                                                 double deviation) {
  return simt::draw_normal(generator, to, count, [=](double x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to, size_t count, float mean,
                                              float deviation) {
  return simt::draw_normal(generator, to, count, [=](float x) { return std::exp(mean + deviation * x); });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* to, size_t count, double mean,
                                                    double deviation) {
  return simt::draw_normal(generator, to, count, [=](double x) { return std::exp(mean + deviation * x); });
}
// As the device's curand_poisson draws them; each number has a draw's words to itself, and further draws if it needs
// more.
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* to, size_t count, double lambda) {
  if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  return simt::draw<1>(generator, to, count, [=](uint4 x, unsigned* numbers) {
    curandStatePhilox4_32_10_t state;
    curand_init(static_cast<unsigned long long>(x.y) << 32 | x.x, x.z, 0, &state);
    numbers[0] = curand_poisson(&state, lambda);
  });
}
