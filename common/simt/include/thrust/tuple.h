// thrust::tuple and pair, for kernels and hosts.
#pragma once

#include <tuple>
#include <utility>

#include "../cuda_runtime.h"

namespace thrust {

template <typename... Types>
struct tuple : std::tuple<Types...> {
  using Base = std::tuple<Types...>;
  using Base::Base;
  using Base::operator=;
  tuple() = default;
  tuple(const Base& other) : Base(other) {}
};
template <typename A, typename B>
using pair = std::pair<A, B>;
template <typename A, typename B>
__host__ __device__ pair<std::decay_t<A>, std::decay_t<B>> make_pair(A&& first, B&& second) {
  return {std::forward<A>(first), std::forward<B>(second)};
}

template <typename... Types>
tuple<std::decay_t<Types>...> make_tuple(Types&&... values) {
  return tuple<std::decay_t<Types>...>(std::forward<Types>(values)...);
}
template <typename... Types>
tuple<Types&...> tie(Types&... values) {
  return tuple<Types&...>(values...);
}
template <int i, typename... Types>
decltype(auto) get(const tuple<Types...>& values) {
  return std::get<i>(static_cast<const std::tuple<Types...>&>(values));
}
template <int i, typename... Types>
decltype(auto) get(tuple<Types...>& values) {
  return std::get<i>(static_cast<std::tuple<Types...>&>(values));
}
template <int i, typename... Types>
decltype(auto) get(tuple<Types...>&& values) {
  return std::get<i>(static_cast<std::tuple<Types...>&&>(values));
}
template <int i, typename Tuple>
using tuple_element = std::tuple_element<i, typename Tuple::Base>;
template <typename Tuple>
using tuple_size = std::tuple_size<typename Tuple::Base>;

}  // namespace thrust
