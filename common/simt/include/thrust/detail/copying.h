// Copies within a side and from one to the other.
#pragma once

#include <algorithm>
#include <memory>

#include "iterators.h"

namespace thrust {
namespace detail {

template <typename T>
void copy_to_device(const T* from, T* to, size_t count) {
  if (count)
    expect(cudaMemcpy(static_cast<void*>(to), from, count * sizeof(T), cudaMemcpyHostToDevice), "thrust::copy");
}

template <typename Where, typename In, typename Out>
Out copy_(const Where& where, In first, In last, Out to) {
  const auto count = std::distance(first, last);
  if (count <= 0) return to;
  const auto in = bare(first);
  const auto out = bare(to);
  run(where, "thrust::copy", [=] {
    auto from = in;
    auto into = out;
    for (auto i = count; i > 0; i--, ++from, ++into) *into = *from;
  });
  return to + count;
}

// Either side may be either's.
template <typename In, typename Out>
Out copy_any(In first, In last, Out to) {
  constexpr bool from_device = any_on_device<In>, to_device = any_on_device<Out>;
  constexpr bool from_host = any_on_host<In>, to_host = any_on_host<Out>;
  using Value = ValueOf<In>;
  const auto count = static_cast<size_t>(std::distance(first, last));
  if constexpr (from_device && to_host) {
    Scratch<Value> packed(count);
    copy_(Device(), first, last, device_ptr<Value>(packed.get()));
    struct alignas(Value) Bytes {
      unsigned char bytes[sizeof(Value)];
    };
    const std::unique_ptr<Bytes[]> values(new Bytes[count]);
    if (count)
      expect(cudaMemcpy(values.get(), packed.get(), count * sizeof(Value), cudaMemcpyDeviceToHost), "thrust::copy");
    const Value* const there = reinterpret_cast<const Value*>(values.get());
    for (size_t i = 0; i < count; i++, ++to) *to = there[i];
    return to;
  } else if constexpr (from_host && to_device) {
    struct Plain {
      Value value;
    };
    std::unique_ptr<Plain[]> values(new Plain[count]);
    for (size_t i = 0; i < count; i++, ++first) values[i].value = *first;
    Scratch<Value> packed(count);
    copy_to_device(reinterpret_cast<const Value*>(values.get()), packed.get(), count);
    const device_ptr<Value> begin(packed.get());
    return copy_(Device(), begin, begin + static_cast<std::ptrdiff_t>(count), to);
  } else if constexpr (!from_device && !to_device && (from_host || to_host)) {
    return std::copy(first, last, to);  // to an output iterator, too, which cannot be advanced by a count
  } else {
    return copy_(Device(), first, last, to);
  }
}

}  // namespace detail

template <typename First, typename... Rest>
auto copy(First first, Rest... rest) {
  if constexpr (detail::is_policy<First>)
    return detail::copy_(first, rest...);
  else
    return detail::copy_any(first, rest...);
}
template <typename In, typename Count, typename Out>
Out copy_n(In first, Count count, Out to) {
  return detail::copy_any(first, first + count, to);
}
template <typename Policy, typename In, typename Count, typename Out>
Out copy_n(const Policy& policy, In first, Count count, Out to) {
  return detail::copy_(policy, first, first + count, to);
}

}  // namespace thrust
