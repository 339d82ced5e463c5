#pragma once
#include "detail/elementwise.h"

namespace thrust {
// What is overwritten here has no constructor that matters: items of device memory are copied as bytes.
template <typename... Arguments>
auto uninitialized_fill(const Arguments&... arguments) {
  return thrust::fill(arguments...);
}
template <typename... Arguments>
auto uninitialized_fill_n(const Arguments&... arguments) {
  return thrust::fill_n(arguments...);
}
}  // namespace thrust
