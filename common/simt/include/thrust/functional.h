// The function objects that programs pass to algorithms.
#pragma once

#include "../cuda/functional"
#include "detail/placeholders.h"

namespace thrust {

using ::cuda::maximum;
using ::cuda::minimum;
using ::cuda::std::bit_and;
using ::cuda::std::bit_or;
using ::cuda::std::bit_xor;
using ::cuda::std::divides;
using ::cuda::std::equal_to;
using ::cuda::std::greater;
using ::cuda::std::greater_equal;
using ::cuda::std::less;
using ::cuda::std::less_equal;
using ::cuda::std::logical_and;
using ::cuda::std::logical_not;
using ::cuda::std::logical_or;
using ::cuda::std::minus;
using ::cuda::std::modulus;
using ::cuda::std::multiplies;
using ::cuda::std::negate;
using ::cuda::std::not_equal_to;
using ::cuda::std::plus;

template <typename T = void>
struct identity : ::cuda::std::identity {};

// What functors derive from in programs for CUDA 12 and before.
template <typename Argument, typename Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <typename First, typename Second, typename Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};
template <typename First = void, typename Second = void>
struct project1st {
  template <typename A, typename B>
  __host__ __device__ A operator()(const A& a, const B&) const {
    return a;
  }
};
template <typename First = void, typename Second = void>
struct project2nd {
  template <typename A, typename B>
  __host__ __device__ B operator()(const A&, const B& b) const {
    return b;
  }
};
template <typename T>
struct square {
  __host__ __device__ T operator()(const T& a) const { return a * a; }
};

}  // namespace thrust
