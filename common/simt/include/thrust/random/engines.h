// Thrust's engines beside the linear congruential ones.
#pragma once

#include <cstdint>

#include "../../cuda_runtime.h"

namespace thrust {

// Each number is the difference of two earlier ones, and of what was borrowed for the last. Seeded by one word per
// number, which for numbers of more than 32 bits is not the C++ library's way.
template <typename UInt, size_t bits, size_t short_lag, size_t long_lag>
class subtract_with_carry_engine {
 public:
  using result_type = UInt;
  static constexpr size_t word_size = bits;
  static constexpr UInt min = 0, max = ~UInt{0} >> (8 * sizeof(UInt) - bits), default_seed = 19780503;
  __host__ __device__ explicit subtract_with_carry_engine(UInt value = default_seed) { seed(value); }
  __host__ __device__ void seed(UInt value = default_seed) {
    uint64_t x = (value ? value : default_seed) % 2147483563;
    for (UInt& word : words_) word = static_cast<UInt>(x = 40014 * x % 2147483563) & max;
    borrowed_ = words_[long_lag - 1] == 0;
    at_ = 0;
  }
  __host__ __device__ UInt operator()() {
    const UInt from = words_[at_ < short_lag ? at_ + long_lag - short_lag : at_ - short_lag];
    const UInt by = words_[at_] + borrowed_;
    borrowed_ = from < by;
    const UInt word = words_[at_] = (from - by) & max;
    at_ = at_ + 1 == long_lag ? 0 : at_ + 1;
    return word;
  }
  __host__ __device__ void discard(unsigned long long calls) {
    while (calls--) (*this)();
  }

 private:
  UInt words_[long_lag];
  UInt borrowed_;
  size_t at_;
};

// Of each `block` numbers the first `used`.
template <typename Engine, size_t block, size_t used>
class discard_block_engine {
 public:
  using base_type = Engine;
  using result_type = typename Engine::result_type;
  static constexpr size_t block_size = block, used_block = used;
  static constexpr result_type min = Engine::min, max = Engine::max;
  discard_block_engine() = default;
  __host__ __device__ explicit discard_block_engine(result_type value) : engine_(value) {}
  __host__ __device__ void seed(result_type value) { *this = discard_block_engine(value); }
  __host__ __device__ const Engine& base() const { return engine_; }
  __host__ __device__ result_type operator()() {
    if (taken_ >= used) {
      engine_.discard(block - taken_);
      taken_ = 0;
    }
    taken_++;
    return engine_();
  }
  __host__ __device__ void discard(unsigned long long calls) {
    while (calls--) (*this)();
  }

 private:
  Engine engine_;
  size_t taken_ = 0;
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
