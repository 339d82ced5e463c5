// Thrust's engines beside the linear congruential ones. Those that the C++ library has are the C++ library's.
#pragma once

#include <cstdint>
#include <random>

#include "../../cuda_runtime.h"

namespace thrust {

// Thrust says the smallest and the largest number by members, the C++ library by functions.
template <typename UInt, size_t bits, size_t short_lag, size_t long_lag>
struct subtract_with_carry_engine : std::subtract_with_carry_engine<UInt, bits, short_lag, long_lag> {
  using std::subtract_with_carry_engine<UInt, bits, short_lag, long_lag>::subtract_with_carry_engine;
  static constexpr UInt min = 0, max = ~UInt{0} >> (8 * sizeof(UInt) - bits);
};
template <typename Engine, size_t block, size_t used>
struct discard_block_engine : std::discard_block_engine<Engine, block, used> {
  using std::discard_block_engine<Engine, block, used>::discard_block_engine;
  static constexpr typename Engine::result_type min = Engine::min, max = Engine::max;
};

// Tausworthe's: each word is the last one, shifted, with new bits that are sums of old ones.
template <typename UInt, size_t bits, size_t k, size_t q, size_t s>
class linear_feedback_shift_engine {
  static constexpr UInt mask = ~UInt{0} >> (8 * sizeof(UInt) - bits);

 public:
  using result_type = UInt;
  static constexpr size_t word_size = bits, exponent1 = k, exponent2 = q, step_size = s;
  static constexpr UInt min = 0, max = mask, default_seed = 341;
  __host__ __device__ explicit linear_feedback_shift_engine(UInt value = default_seed) { seed(value); }
  __host__ __device__ void seed(UInt value = default_seed) { word_ = value; }
  __host__ __device__ UInt operator()() {
    const UInt fresh = (((word_ << q) ^ word_) & mask) >> (k - s);
    return word_ = ((word_ & (~UInt{0} << (bits - k)) & mask) << s & mask) ^ fresh;
  }
  __host__ __device__ void discard(unsigned long long calls) {
    while (calls--) (*this)();
  }
  friend __host__ __device__ bool operator==(const linear_feedback_shift_engine& a,
                                             const linear_feedback_shift_engine& b) {
    return a.word_ == b.word_;
  }

 private:
  UInt word_;
};

template <typename First, size_t first_shift, typename Second, size_t second_shift = 0>
class xor_combine_engine {
 public:
  using result_type = decltype(typename First::result_type() ^ typename Second::result_type());
  static constexpr result_type min = 0, max = (result_type{First::max} << first_shift) |
                                              (result_type{Second::max} << second_shift);
  xor_combine_engine() = default;
  __host__ __device__ explicit xor_combine_engine(result_type value) : first_(value), second_(value) {}
  __host__ __device__ void seed(result_type value) { *this = xor_combine_engine(value); }
  __host__ __device__ result_type operator()() {
    return (result_type{first_()} << first_shift) ^ (result_type{second_()} << second_shift);
  }
  __host__ __device__ void discard(unsigned long long calls) {
    first_.discard(calls);
    second_.discard(calls);
  }

 private:
  First first_;
  Second second_;
};

using ranlux24_base = subtract_with_carry_engine<uint32_t, 24, 10, 24>;
using ranlux48_base = subtract_with_carry_engine<uint64_t, 48, 5, 12>;
using ranlux24 = discard_block_engine<ranlux24_base, 223, 23>;
using ranlux48 = discard_block_engine<ranlux48_base, 389, 11>;
using taus88 = xor_combine_engine<linear_feedback_shift_engine<uint32_t, 32, 31, 13, 12>, 0,
                                  xor_combine_engine<linear_feedback_shift_engine<uint32_t, 32, 29, 2, 4>, 0,
                                                     linear_feedback_shift_engine<uint32_t, 32, 28, 3, 17>, 0>,
                                  0>;

}  // namespace thrust
