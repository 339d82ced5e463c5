// thrust::placeholders: `3 * _1 + _2` as a function object.
#pragma once

#include <type_traits>

#include "../../cuda_runtime.h"

namespace thrust {
namespace detail {

// An expression: what it is of some arguments.
template <typename Expression>
struct Actor {
  Expression expression;
  template <typename... Arguments>
  __host__ __device__ decltype(auto) operator()(Arguments&&... arguments) const {
    return expression(arguments...);
  }
  template <typename Right>
  auto operator=(const Right& right) const;
  Actor(const Actor&) = default;
  __host__ __device__ constexpr explicit Actor(const Expression& expression) : expression(expression) {}
};

template <int number>
struct Argument {
  template <typename First, typename... Others>
  __host__ __device__ decltype(auto) operator()(First& first, Others&... others) const {
    if constexpr (number == 0)
      return (first);
    else
      return Argument<number - 1>()(others...);
  }
};
template <typename T>
struct Constant {
  T value;
  template <typename... Arguments>
  __host__ __device__ const T& operator()(const Arguments&...) const {
    return value;
  }
};

template <typename T>
struct IsActor : std::false_type {};
template <typename Expression>
struct IsActor<Actor<Expression>> : std::true_type {};
template <typename... Types>
using IfActor = std::enable_if_t<(IsActor<Types>::value || ...), int>;

template <typename T>
__host__ __device__ Constant<T> expression_of(const T& value) {
  return {value};
}
template <typename Expression>
__host__ __device__ Expression expression_of(const Actor<Expression>& actor) {
  return actor.expression;
}
template <typename T>
using ExpressionOf = decltype(expression_of(std::declval<const T&>()));

template <typename Operation, typename Left, typename Right>
struct Binary {
  Left left;
  Right right;
  template <typename... Arguments>
  __host__ __device__ decltype(auto) operator()(Arguments&... arguments) const {
    return Operation::of(left(arguments...), right(arguments...));
  }
};
template <typename Operation, typename Operand>
struct Unary {
  Operand operand;
  template <typename... Arguments>
  __host__ __device__ decltype(auto) operator()(Arguments&... arguments) const {
    return Operation::of(operand(arguments...));
  }
};

#define SIMT_BINARY(name, op)                                                        \
  struct name {                                                                      \
    template <typename L, typename R>                                                \
    __host__ __device__ static decltype(auto) of(L&& left, R&& right) {              \
      return left op right;                                                          \
    }                                                                                \
  };                                                                                 \
  template <typename L, typename R, IfActor<L, R> = 0>                               \
  __host__ __device__ auto operator op(const L& left, const R& right) {              \
    using Expression = Binary<name, ExpressionOf<L>, ExpressionOf<R>>;               \
    return Actor<Expression>(Expression{expression_of(left), expression_of(right)}); \
  }
#define SIMT_UNARY(name, op)                                      \
  struct name {                                                   \
    template <typename T>                                         \
    __host__ __device__ static decltype(auto) of(T&& operand) {   \
      return op operand;                                          \
    }                                                             \
  };                                                              \
  template <typename T, IfActor<T> = 0>                           \
  __host__ __device__ auto operator op(const T& operand) {        \
    using Expression = Unary<name, ExpressionOf<T>>;              \
    return Actor<Expression>(Expression{expression_of(operand)}); \
  }
SIMT_BINARY(Add, +)
SIMT_BINARY(Subtract, -)
SIMT_BINARY(Multiply, *)
SIMT_BINARY(Divide, /)
SIMT_BINARY(Rest, %)
SIMT_BINARY(Equal, ==)
SIMT_BINARY(Unequal, !=)
SIMT_BINARY(Less, <)
SIMT_BINARY(Greater, >)
SIMT_BINARY(AtMost, <=)
SIMT_BINARY(AtLeast, >=)
SIMT_BINARY(Both, &&)
SIMT_BINARY(Any, ||)
SIMT_BINARY(BitAnd, &)
SIMT_BINARY(BitOr, |)
SIMT_BINARY(BitXor, ^)
SIMT_BINARY(ShiftLeft, <<)
SIMT_BINARY(ShiftRight, >>)
SIMT_BINARY(AddAssign, +=)
SIMT_BINARY(SubtractAssign, -=)
SIMT_BINARY(MultiplyAssign, *=)
SIMT_BINARY(DivideAssign, /=)
SIMT_BINARY(RestAssign, %=)
SIMT_BINARY(BitAndAssign, &=)
SIMT_BINARY(BitOrAssign, |=)
SIMT_BINARY(BitXorAssign, ^=)
SIMT_BINARY(ShiftLeftAssign, <<=)
SIMT_BINARY(ShiftRightAssign, >>=)
SIMT_UNARY(Negative, -)
SIMT_UNARY(Positive, +)
SIMT_UNARY(Not, !)
SIMT_UNARY(Complement, ~)
SIMT_UNARY(Increment, ++)
SIMT_UNARY(Decrement, --)
#undef SIMT_BINARY
#undef SIMT_UNARY

struct Assign {
  template <typename L, typename R>
  __host__ __device__ static decltype(auto) of(L&& left, R&& right) {
    return left = right;
  }
};
template <typename Expression>
template <typename Right>
auto Actor<Expression>::operator=(const Right& right) const {
  using Assigned = Binary<Assign, Expression, ExpressionOf<Right>>;
  return Actor<Assigned>(Assigned{expression, expression_of(right)});
}

}  // namespace detail

namespace placeholders {
static const detail::Actor<detail::Argument<0>> _1{{}};
static const detail::Actor<detail::Argument<1>> _2{{}};
static const detail::Actor<detail::Argument<2>> _3{{}};
static const detail::Actor<detail::Argument<3>> _4{{}};
static const detail::Actor<detail::Argument<4>> _5{{}};
static const detail::Actor<detail::Argument<5>> _6{{}};
static const detail::Actor<detail::Argument<6>> _7{{}};
static const detail::Actor<detail::Argument<7>> _8{{}};
static const detail::Actor<detail::Argument<8>> _9{{}};
static const detail::Actor<detail::Argument<9>> _10{{}};
}  // namespace placeholders
}  // namespace thrust
