// Thrust's random numbers, for kernels and hosts. The uniform numbers are Thrust's own, normal ones up to the last
// places.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <iostream>  // as with Thrust's own

#include "random/engines.h"

namespace thrust {

// x -> (a x + c) mod m
template <typename UInt, UInt a, UInt c, UInt m>
class linear_congruential_engine {
 public:
  using result_type = UInt;
  static constexpr UInt multiplier = a, increment = c, modulus = m, default_seed = 1;
  static constexpr UInt min = c == 0 ? 1 : 0, max = m - 1;

  __host__ __device__ explicit linear_congruential_engine(UInt seed_value = default_seed) { seed(seed_value); }
  __host__ __device__ void seed(UInt value = default_seed) { x_ = c % m == 0 && value % m == 0 ? 1 : value % m; }
  __host__ __device__ UInt operator()() { return x_ = static_cast<UInt>((static_cast<uint64_t>(a) * x_ + c) % m); }
  // The effect of `calls` calls.
  __host__ __device__ void discard(unsigned long long calls) {
    uint64_t by = a, plus = c, all_by = 1, all_plus = 0;
    for (; calls; calls /= 2) {
      if (calls & 1) {
        all_by = all_by * by % m;
        all_plus = (all_plus * by + plus) % m;
      }
      plus = (by + 1) * plus % m;
      by = by * by % m;
    }
    x_ = static_cast<UInt>((all_by * x_ + all_plus) % m);
  }
  friend __host__ __device__ bool operator==(const linear_congruential_engine& p, const linear_congruential_engine& q) {
    return p.x_ == q.x_;
  }
  friend __host__ __device__ bool operator!=(const linear_congruential_engine& p, const linear_congruential_engine& q) {
    return p.x_ != q.x_;
  }

 private:
  UInt x_;
};

using minstd_rand0 = linear_congruential_engine<uint32_t, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<uint32_t, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;

// Uniform in [a, b).
template <typename Real = double>
class uniform_real_distribution {
 public:
  using result_type = Real;
  __host__ __device__ explicit uniform_real_distribution(Real a = 0, Real b = 1) : a_(a), b_(b) {}
  __host__ __device__ void reset() {}
  __host__ __device__ Real a() const { return a_; }
  __host__ __device__ Real b() const { return b_; }
  template <typename Engine>
  __host__ __device__ Real operator()(Engine& engine) const {
    const Real part =
        static_cast<Real>(engine() - Engine::min) / (static_cast<Real>(Engine::max - Engine::min) + Real(1));
    return part * (b_ - a_) + a_;
  }

 private:
  Real a_, b_;
};

// Uniform in [a, b].
template <typename Int = int>
class uniform_int_distribution {
 public:
  using result_type = Int;
  __host__ __device__ explicit uniform_int_distribution(Int a = 0,
                                                        Int b = static_cast<Int>(~0ull >> (65 - 8 * sizeof(Int))))
      : a_(a), b_(b) {}
  __host__ __device__ void reset() {}
  __host__ __device__ Int a() const { return a_; }
  __host__ __device__ Int b() const { return b_; }
  template <typename Engine>
  __host__ __device__ Int operator()(Engine& engine) const {
    return static_cast<Int>(
        uniform_real_distribution<double>(static_cast<double>(a_), static_cast<double>(b_) + 1)(engine));
  }

 private:
  Int a_, b_;
};

template <typename Real = double>
class normal_distribution {
 public:
  using result_type = Real;
  __host__ __device__ explicit normal_distribution(Real mean = 0, Real deviation = 1)
      : mean_(mean), deviation_(deviation) {}
  __host__ __device__ void reset() {}
  __host__ __device__ Real mean() const { return mean_; }
  __host__ __device__ Real stddev() const { return deviation_; }
  // By the inverse of the cumulative distribution function.
  template <typename Engine>
  __host__ __device__ Real operator()(Engine& engine) const {
    constexpr typename Engine::result_type range = Engine::max - Engine::min;
    const Real step = Real(1) / static_cast<Real>(range);
    Real root_of_2 = Real(-1.4142135623730950488);
    typename Engine::result_type drawn = engine() - Engine::min;
    if (drawn > range / 2) {
      drawn = range - drawn;
      root_of_2 = -root_of_2;
    }
    return mean_ + deviation_ * root_of_2 * static_cast<Real>(erfcinv(2.0 * (drawn * step + step / 2)));
  }

 private:
  Real mean_, deviation_;
};

namespace random {
using thrust::default_random_engine;
using thrust::discard_block_engine;
using thrust::linear_congruential_engine;
using thrust::linear_feedback_shift_engine;
using thrust::minstd_rand;
using thrust::minstd_rand0;
using thrust::normal_distribution;
using thrust::ranlux24;
using thrust::ranlux24_base;
using thrust::ranlux48;
using thrust::ranlux48_base;
using thrust::subtract_with_carry_engine;
using thrust::taus88;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
using thrust::xor_combine_engine;
}  // namespace random

}  // namespace thrust
