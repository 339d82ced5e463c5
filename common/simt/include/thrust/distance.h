#pragma once
#include "detail/run.h"

namespace thrust {
template <typename It>
std::ptrdiff_t distance(It first, It last) {
  return last - first;
}
}  // namespace thrust
