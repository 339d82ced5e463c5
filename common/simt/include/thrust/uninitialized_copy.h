#pragma once
#include "detail/copying.h"

namespace thrust {
template <typename... Arguments>
auto uninitialized_copy(const Arguments&... arguments) {
  return thrust::copy(arguments...);
}
template <typename... Arguments>
auto uninitialized_copy_n(const Arguments&... arguments) {
  return thrust::copy_n(arguments...);
}
}  // namespace thrust
