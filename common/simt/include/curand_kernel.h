// cuRAND's generators for kernels: XORWOW (curandState), Philox4x32-10, MRG32k3a and Sobol's sequences; uniform,
// normal, log-normal and Poisson numbers. Bits and uniform numbers are CUDA's; normal ones differ in the last places,
// as __sincosf does. curand_init of XORWOW costs a GPU far more than here, where the jump to a subsequence is a call of
// the host (../curand.cpp).
//
// XORWOW: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003. Philox: J. Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once
#define CURAND_KERNEL_H_  // which other headers test

#include <cuda_runtime.h>

#include "simt/curand_mrg.h"
#include "simt/curand_sobol.h"

namespace simt {

// Advances XORWOW's shift register by `steps` numbers, or, with `subsequences`, by `steps` subsequences of 2^67
// numbers.
void skip_xorwow(unsigned* registers, unsigned long long steps, bool subsequences);

// Which half of a Box-Muller pair is kept for the next call.
enum class Waiting : int { nothing, normal, log_normal };

}  // namespace simt

// ---- XORWOW
// ----------------------------------------------------------------------------------------------------------

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  unsigned int simt_padding;  // has a value, so that copies of a state read nothing that was never written
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

__device__ __forceinline__ unsigned int curand(curandStateXORWOW_t* state) {
  const unsigned first = state->v[0] ^ state->v[0] >> 2, last = state->v[4];
  for (int i = 0; i < 4; i++) state->v[i] = state->v[i + 1];
  state->v[4] = last ^ last << 4 ^ first ^ first << 1;
  state->d += 362437;
  return state->v[4] + state->d;
}

namespace simt {
__device__ __forceinline__ void skip(curandStateXORWOW_t* state, unsigned long long steps, bool subsequences) {
  unsigned registers[5];
  for (int i = 0; i < 5; i++) registers[i] = state->v[i];
  skip_xorwow(registers, steps, subsequences);
  for (int i = 0; i < 5; i++) state->v[i] = registers[i];
}
}  // namespace simt

__device__ __forceinline__ void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  simt::skip(state, n, false);
  state->d += 362437 * static_cast<unsigned>(n);
}
// The length of a subsequence is a multiple of 2^32, so the counter d stays as it is.
__device__ __forceinline__ void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  simt::skip(state, n, true);
}

__device__ __forceinline__ void curand_init(unsigned long long seed, unsigned long long subsequence,
                                            unsigned long long offset, curandStateXORWOW_t* state) {
  const unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u),
                 high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  *state = {};
  state->d = 6615241u + high + low;
  const unsigned registers[5] = {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high,
                                 5783321u + low};
  for (int i = 0; i < 5; i++) state->v[i] = registers[i];
  if (subsequence) skipahead_sequence(subsequence, state);
  if (offset) skipahead(offset, state);
}

// ---- Philox4x32-10
// ---------------------------------------------------------------------------------------------------

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;  // which of output comes next
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

__device__ __forceinline__ uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; round++) {
    const unsigned long long a = 0xD2511F53ull * counter.x, b = 0xCD9E8D57ull * counter.z;
    counter = make_uint4(static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
                         static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a));
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

namespace simt {
// Adds n to the counter's lower 64 bits and propagates the carry.
__device__ __forceinline__ void advance(curandStatePhilox4_32_10_t* state, unsigned long long n) {
  const unsigned long long low = (static_cast<unsigned long long>(state->ctr.y) << 32 | state->ctr.x) + n;
  state->ctr.x = static_cast<unsigned>(low);
  state->ctr.y = static_cast<unsigned>(low >> 32);
  if (low < n && ++state->ctr.z == 0) ++state->ctr.w;
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
__device__ __forceinline__ unsigned at(const uint4& four, unsigned which) {
  return which == 0 ? four.x : which == 1 ? four.y : which == 2 ? four.z : four.w;
}
}  // namespace simt

__device__ __forceinline__ void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += n & 3;
  const unsigned long long fours = n / 4 + state->STATE / 4;
  state->STATE %= 4;
  simt::advance(state, fours);
}
__device__ __forceinline__ void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned long long high = (static_cast<unsigned long long>(state->ctr.w) << 32 | state->ctr.z) + n;
  state->ctr.z = static_cast<unsigned>(high);
  state->ctr.w = static_cast<unsigned>(high >> 32);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
__device__ __forceinline__ void curand_init(unsigned long long seed, unsigned long long subsequence,
                                            unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  *state = {};
  state->key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

__device__ __forceinline__ unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned next = simt::at(state->output, state->STATE);
  if (++state->STATE == 4) {
    state->STATE = 0;
    simt::advance(state, 1);
  }
  return next;
}
// The next four numbers of the sequence, from any position on.
__device__ __forceinline__ uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 before = state->output;
  const unsigned first = state->STATE;
  simt::advance(state, 1);
  const auto pick = [&](unsigned i) { return i < 4 ? simt::at(before, i) : simt::at(state->output, i - 4); };
  return make_uint4(pick(first), pick(first + 1), pick(first + 2), pick(first + 3));
}

// ---- Numbers
// ---------------------------------------------------------------------------------------------------------

namespace simt {

constexpr float two_to_minus_32 = 2.3283064e-10f;
constexpr double two_to_minus_53 = 1.1102230246251565e-16;

__device__ __forceinline__ float uniform_of(unsigned x) { return x * two_to_minus_32 + two_to_minus_32 / 2; }
__device__ __forceinline__ double uniform_of(unsigned x, unsigned y) {
  const unsigned long long both = x ^ static_cast<unsigned long long>(y) << 21;
  return both * two_to_minus_53 + two_to_minus_53 / 2;
}
template <typename State>
__device__ __forceinline__ float float_uniform(State* state) {
  return uniform_of(curand(state));
}
// Box and Muller: two uniform numbers become two normal ones.
__device__ __forceinline__ float2 normal_of(unsigned x, unsigned y) {
  constexpr float turn = two_to_minus_32 * 6.2831855f;
  const float radius = sqrtf(-2.0f * logf(uniform_of(x))), angle = fmaf(static_cast<float>(y), turn, turn / 2);
  float2 both;
  __sincosf(angle, &both.x, &both.y);
  return make_float2(both.x * radius, both.y * radius);
}
__device__ __forceinline__ double2 normal_of(uint4 x) {
  const unsigned long long both_y = x.z ^ static_cast<unsigned long long>(x.w) << 21;
  const double radius = sqrt(-2.0 * log(uniform_of(x.x, x.y)));
  double2 both;
  sincos((both_y * (two_to_minus_53 * 2) + two_to_minus_53) * 3.141592653589793, &both.x, &both.y);
  return make_double2(both.x * radius, both.y * radius);
}
template <typename State>
__device__ __forceinline__ float2 two_normal(State* state) {
  const unsigned x = curand(state);
  return normal_of(x, curand(state));
}
__device__ __forceinline__ double2 two_normal_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state);
  return normal_of(make_uint4(x, y, z, curand(state)));
}
__device__ __forceinline__ double2 two_normal_double(curandStatePhilox4_32_10_t* state) {
  return normal_of(curand4(state));
}
__device__ __forceinline__ double double_uniform(curandStateXORWOW_t* state) {
  const unsigned x = curand(state);
  return uniform_of(x, curand(state));
}
// From 32 bits of one number only, as in CUDA.
__device__ __forceinline__ double double_uniform(curandStatePhilox4_32_10_t* state) {
  constexpr double unit = two_to_minus_53 * (1 << 21);
  return curand(state) * unit + unit;
}

}  // namespace simt

namespace simt {

// Up to 64 by Knuth's products of uniform numbers, as CUDA does. Beyond that CUDA inverts approximations of the
// distribution; here one uniform number is looked up in the distribution itself, from its middle on.
template <typename Uniform>
__device__ unsigned poisson_of(double lambda, const Uniform& uniform) {
  if (lambda < 64) {
    unsigned factors = 0;
    float product = expf(static_cast<float>(lambda));
    do {
      factors++;
      product *= uniform();
    } while (product > 1.0f);
    return factors - 1;
  }
  const double wanted = uniform();
  const double middle = floor(lambda);
  const double largest = exp(middle * log(lambda) - lambda - lgamma(middle + 1));
  double below = largest, above = largest, low = largest, sum = largest, first = middle, last = middle;
  // All that is at most as large as `middle`, from the largest term down.
  for (; below > 1e-18 * sum && first > 0; first--) sum += below *= first / lambda;
  // `sum` is now the probability of at most `middle`.
  if (wanted > sum) {
    while (sum < wanted && above > 1e-18) sum += above *= lambda / ++last;
    return static_cast<unsigned>(last);
  }
  while (last > 0 && sum - low >= wanted) {
    sum -= low;
    low *= last-- / lambda;
  }
  return static_cast<unsigned>(last);
}

}  // namespace simt

#define SIMT_CURAND(State)                                                                                          \
  __device__ __forceinline__ float curand_uniform(State* state) { return simt::float_uniform(state); }              \
  __device__ __forceinline__ double curand_uniform_double(State* state) { return simt::double_uniform(state); }     \
  __device__ __forceinline__ float2 curand_normal2(State* state) { return simt::two_normal(state); }                \
  __device__ __forceinline__ double2 curand_normal2_double(State* state) { return simt::two_normal_double(state); } \
  __device__ __forceinline__ float curand_normal(State* state) {                                                    \
    if (state->boxmuller_flag == static_cast<int>(simt::Waiting::normal)) {                                         \
      state->boxmuller_flag = 0;                                                                                    \
      return state->boxmuller_extra;                                                                                \
    }                                                                                                               \
    const float2 both = simt::two_normal(state);                                                                    \
    state->boxmuller_extra = both.y;                                                                                \
    state->boxmuller_flag = static_cast<int>(simt::Waiting::normal);                                                \
    return both.x;                                                                                                  \
  }                                                                                                                 \
  __device__ __forceinline__ double curand_normal_double(State* state) {                                            \
    if (state->boxmuller_flag_double == static_cast<int>(simt::Waiting::normal)) {                                  \
      state->boxmuller_flag_double = 0;                                                                             \
      return state->boxmuller_extra_double;                                                                         \
    }                                                                                                               \
    const double2 both = simt::two_normal_double(state);                                                            \
    state->boxmuller_extra_double = both.y;                                                                         \
    state->boxmuller_flag_double = static_cast<int>(simt::Waiting::normal);                                         \
    return both.x;                                                                                                  \
  }                                                                                                                 \
  __device__ __forceinline__ float curand_log_normal(State* state, float mean, float deviation) {                   \
    if (state->boxmuller_flag == static_cast<int>(simt::Waiting::log_normal)) {                                     \
      state->boxmuller_flag = 0;                                                                                    \
      return state->boxmuller_extra;                                                                                \
    }                                                                                                               \
    const float2 both = simt::two_normal(state);                                                                    \
    state->boxmuller_extra = expf(mean + deviation * both.y);                                                       \
    state->boxmuller_flag = static_cast<int>(simt::Waiting::log_normal);                                            \
    return expf(mean + deviation * both.x);                                                                         \
  }
#define SIMT_CURAND_MORE(State)                                                                               \
  __device__ __forceinline__ unsigned int curand_poisson(State* state, double lambda) {                       \
    return simt::poisson_of(lambda, [&] { return curand_uniform(state); });                                   \
  }                                                                                                           \
  __device__ __forceinline__ float2 curand_log_normal2(State* state, float mean, float deviation) {           \
    const float2 both = simt::two_normal(state);                                                              \
    return make_float2(expf(mean + deviation * both.x), expf(mean + deviation * both.y));                     \
  }                                                                                                           \
  __device__ __forceinline__ double2 curand_log_normal2_double(State* state, double mean, double deviation) { \
    const double2 both = simt::two_normal_double(state);                                                      \
    return make_double2(exp(mean + deviation * both.x), exp(mean + deviation * both.y));                      \
  }                                                                                                           \
  __device__ __forceinline__ double curand_log_normal_double(State* state, double mean, double deviation) {   \
    if (state->boxmuller_flag_double == static_cast<int>(simt::Waiting::log_normal)) {                        \
      state->boxmuller_flag_double = 0;                                                                       \
      return state->boxmuller_extra_double;                                                                   \
    }                                                                                                         \
    const double2 both = curand_log_normal2_double(state, mean, deviation);                                   \
    state->boxmuller_extra_double = both.y;                                                                   \
    state->boxmuller_flag_double = static_cast<int>(simt::Waiting::log_normal);                               \
    return both.x;                                                                                            \
  }
SIMT_CURAND(curandStateXORWOW_t)
SIMT_CURAND(curandStatePhilox4_32_10_t)
SIMT_CURAND(curandStateMRG32k3a_t)
SIMT_CURAND_MORE(curandStateXORWOW_t)
SIMT_CURAND_MORE(curandStatePhilox4_32_10_t)
SIMT_CURAND_MORE(curandStateMRG32k3a_t)
#undef SIMT_CURAND_MORE
#undef SIMT_CURAND

__device__ __forceinline__ float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(simt::uniform_of(x.x), simt::uniform_of(x.y), simt::uniform_of(x.z), simt::uniform_of(x.w));
}
__device__ __forceinline__ double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(simt::uniform_of(x.x, x.y), simt::uniform_of(x.z, x.w));
}
__device__ __forceinline__ float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 low = simt::normal_of(x.x, x.y), high = simt::normal_of(x.z, x.w);
  return make_float4(low.x, low.y, high.x, high.y);
}
__device__ __forceinline__ float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float deviation) {
  const float4 x = curand_normal4(state);
  return make_float4(expf(mean + deviation * x.x), expf(mean + deviation * x.y), expf(mean + deviation * x.z),
                     expf(mean + deviation * x.w));
}
__device__ __forceinline__ uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
  uint4 four;
  four.x = curand_poisson(state, lambda);
  four.y = curand_poisson(state, lambda);
  four.z = curand_poisson(state, lambda);
  four.w = curand_poisson(state, lambda);
  return four;
}
