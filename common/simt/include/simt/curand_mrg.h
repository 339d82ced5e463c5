// cuRAND's generator MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random
// number generators", Operations Research 47 (1), 1999. Subsequences are 2^76 numbers apart, sequences 2^127.
#pragma once

#include <cuda_runtime.h>

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  unsigned int simt_padding;  // has a value, so that copies of a state read nothing that was never written
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace simt {

constexpr unsigned long long mrg_modulus_1 = 4294967087, mrg_modulus_2 = 4294944443;

// Advances both recurrences by steps * 2^exponent numbers, by the host (../../curand.cpp).
void skip_mrg(unsigned* s1, unsigned* s2, unsigned long long steps, int exponent);

__device__ __forceinline__ void skip(curandStateMRG32k3a_t* state, unsigned long long steps, int exponent) {
  unsigned s1[3], s2[3];
  for (int i = 0; i < 3; i++) s1[i] = state->s1[i], s2[i] = state->s2[i];
  skip_mrg(s1, s2, steps, exponent);
  for (int i = 0; i < 3; i++) state->s1[i] = s1[i], state->s2[i] = s2[i];
}

// From 1 to the first modulus.
__device__ __forceinline__ double next_of(curandStateMRG32k3a_t* state) {
  const unsigned long long first =
      (1403580ull * state->s1[1] + 810728ull * (mrg_modulus_1 - state->s1[0])) % mrg_modulus_1;
  const unsigned long long second =
      (527612ull * state->s2[2] + 1370589ull * (mrg_modulus_2 - state->s2[0])) % mrg_modulus_2;
  for (int i = 0; i < 2; i++) state->s1[i] = state->s1[i + 1], state->s2[i] = state->s2[i + 1];
  state->s1[2] = static_cast<unsigned>(first);
  state->s2[2] = static_cast<unsigned>(second);
  return static_cast<double>(first > second ? first - second : first + mrg_modulus_1 - second);
}

constexpr double mrg_unit = 2.3283065498378288e-10;  // nearly 1 / the first modulus

}  // namespace simt

__device__ __forceinline__ unsigned int curand(curandStateMRG32k3a_t* state) {
  return static_cast<unsigned>(simt::next_of(state) * 1.000000048662);
}
__device__ __forceinline__ void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) {
  simt::skip(state, n, 0);
}
__device__ __forceinline__ void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  simt::skip(state, n, 76);
}
__device__ __forceinline__ void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  simt::skip(state, n, 127);
}
__device__ __forceinline__ void curand_init(unsigned long long seed, unsigned long long subsequence,
                                            unsigned long long offset, curandStateMRG32k3a_t* state) {
  *state = {};
  const unsigned long long low = static_cast<unsigned>(seed) ^ 0x55555555u,
                           high = static_cast<unsigned>(seed >> 32) ^ 0xAAAAAAAAu;
  for (int i = 0; i < 3; i++) {
    state->s1[i] = seed ? static_cast<unsigned>((i == 1 ? high : low) * 12345 % simt::mrg_modulus_1) : 12345;
    state->s2[i] = seed ? static_cast<unsigned>((i == 1 ? low : high) * 12345 % simt::mrg_modulus_2) : 12345;
  }
  if (subsequence) skipahead_subsequence(subsequence, state);
  if (offset) skipahead(offset, state);
}

namespace simt {

__device__ __forceinline__ float float_uniform(curandStateMRG32k3a_t* state) {
  return static_cast<float>(next_of(state) * mrg_unit);
}
__device__ __forceinline__ double double_uniform(curandStateMRG32k3a_t* state) { return next_of(state) * mrg_unit; }
__device__ __forceinline__ float2 two_normal(curandStateMRG32k3a_t* state) {
  const float radius = sqrtf(-2.0f * logf(float_uniform(state))), angle = float_uniform(state) * 6.2831855f;
  float2 both;
  __sincosf(angle, &both.x, &both.y);
  return make_float2(both.x * radius, both.y * radius);
}
__device__ __forceinline__ double2 two_normal_double(curandStateMRG32k3a_t* state) {
  const double radius = sqrt(-2.0 * log(double_uniform(state)));
  double2 both;
  sincospi(double_uniform(state) * 2, &both.x, &both.y);
  return make_double2(both.x * radius, both.y * radius);
}

}  // namespace simt
