// cuRAND's quasi-random numbers in kernels: Sobol sequences of 32 and 64 bits, plain and scrambled. One state is one
// dimension, whose direction vectors the program has: curandGetDirectionVectors32 and the like are refused, for their
// tables are not here.
#pragma once

#include <cuda_runtime.h>

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

namespace simt {

template <typename Bits, int tag>
struct Sobol {
  Bits i, x, c;  // the number's place, the number, and what scrambles it
  Bits direction_vectors[sizeof(Bits) * 8];
};

// The normal number below which such a part of all normal numbers lies.
__device__ __forceinline__ float normal_below(unsigned x) {
  const bool upper = x > 0x80000000u;
  return (upper ? -1.4142135f : 1.4142135f) * erfcinvf(2 * ((upper ? ~x : x) * 2.3283064e-10f + 2.3283064e-10f / 2));
}
__device__ __forceinline__ float normal_below(unsigned long long x) {
  return normal_below(static_cast<unsigned>(x >> 32));
}
__device__ __forceinline__ double double_normal_below(unsigned x) {
  constexpr double unit = 2.3283064365386963e-10;
  const bool upper = x > 0x80000000u;
  return (upper ? -1.4142135623730951 : 1.4142135623730951) * erfcinv(2 * ((upper ? ~x : x) * unit + unit / 2));
}
__device__ __forceinline__ double double_normal_below(unsigned long long x) {
  constexpr double unit = 1.1102230246251565e-16;
  constexpr unsigned long long half = 1ull << 52, all = (1ull << 53) - 1;
  x >>= 11;
  const bool upper = x > half;
  return (upper ? -1.4142135623730951 : 1.4142135623730951) * erfcinv(2 * ((upper ? all - x : x) * unit + unit / 2));
}
__device__ __forceinline__ float uniform_below(unsigned x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2; }
__device__ __forceinline__ float uniform_below(unsigned long long x) {
  return uniform_below(static_cast<unsigned>(x >> 32));
}
__device__ __forceinline__ double double_uniform_below(unsigned x) {
  return x * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
__device__ __forceinline__ double double_uniform_below(unsigned long long x) {
  return (x >> 11) * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}

}  // namespace simt

typedef simt::Sobol<unsigned int, 0> curandStateSobol32_t, curandStateSobol32;
typedef simt::Sobol<unsigned int, 1> curandStateScrambledSobol32_t, curandStateScrambledSobol32;
typedef simt::Sobol<unsigned long long, 0> curandStateSobol64_t, curandStateSobol64;
typedef simt::Sobol<unsigned long long, 1> curandStateScrambledSobol64_t, curandStateScrambledSobol64;

// The number at a place is made of the vectors of its Gray code's bits, so that the next one differs in one vector.
template <typename Bits, int tag>
__device__ __forceinline__ Bits curand(simt::Sobol<Bits, tag>* state) {
  const Bits now = state->x, zeros = ~state->i;
  // Behind the last place is the first one.
  const int bit = !zeros              ? static_cast<int>(sizeof(Bits)) * 8 - 1
                  : sizeof(Bits) == 8 ? __ffsll(zeros) - 1
                                      : __ffs(zeros) - 1;
  state->x ^= state->direction_vectors[bit];
  state->i++;
  return now;
}
template <typename Bits, int tag>
__device__ __forceinline__ void skipahead(simt::Same<Bits> n, simt::Sobol<Bits, tag>* state) {
  state->i += n;
  state->x = state->c;
  for (Bits gray = state->i ^ state->i >> 1, bit = 0; gray; gray >>= 1, bit++) {
    if (gray & 1) state->x ^= state->direction_vectors[bit];
  }
}
namespace simt {
template <typename Bits, int tag>
__device__ __forceinline__ void begin(Sobol<Bits, tag>* state, const Bits* vectors, Bits scramble, Bits offset) {
  state->i = 0;
  state->c = scramble;
  for (size_t k = 0; k < sizeof(Bits) * 8; k++) state->direction_vectors[k] = vectors[k];
  skipahead(offset, state);
}
}  // namespace simt

#define SIMT_SOBOL_INIT(bits, Bits)                                                                                  \
  __device__ __forceinline__ void curand_init(const Bits* vectors, Bits offset, curandStateSobol##bits##_t* state) { \
    simt::begin<Bits>(state, vectors, 0, offset);                                                                    \
  }                                                                                                                  \
  __device__ __forceinline__ void curand_init(const Bits* vectors, Bits scramble, Bits offset,                       \
                                              curandStateScrambledSobol##bits##_t* state) {                          \
    simt::begin<Bits>(state, vectors, scramble, offset);                                                             \
  }
SIMT_SOBOL_INIT(32, unsigned int)
SIMT_SOBOL_INIT(64, unsigned long long)
#undef SIMT_SOBOL_INIT

template <typename Bits, int tag>
__device__ __forceinline__ float curand_uniform(simt::Sobol<Bits, tag>* state) {
  return simt::uniform_below(curand(state));
}
template <typename Bits, int tag>
__device__ __forceinline__ double curand_uniform_double(simt::Sobol<Bits, tag>* state) {
  return simt::double_uniform_below(curand(state));
}
template <typename Bits, int tag>
__device__ __forceinline__ float curand_normal(simt::Sobol<Bits, tag>* state) {
  return simt::normal_below(curand(state));
}
template <typename Bits, int tag>
__device__ __forceinline__ double curand_normal_double(simt::Sobol<Bits, tag>* state) {
  return simt::double_normal_below(curand(state));
}
template <typename Bits, int tag>
__device__ __forceinline__ float curand_log_normal(simt::Sobol<Bits, tag>* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <typename Bits, int tag>
__device__ __forceinline__ double curand_log_normal_double(simt::Sobol<Bits, tag>* state, double mean,
                                                           double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
