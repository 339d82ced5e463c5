#pragma once
#include "detail/run.h"

namespace thrust {
template <typename It, typename Count>
void advance(It& it, Count count) {
  it += static_cast<std::ptrdiff_t>(count);
}
template <typename It>
It next(It it, std::ptrdiff_t count = 1) {
  return it += count;
}
template <typename It>
It prev(It it, std::ptrdiff_t count = 1) {
  return it += -count;
}
}  // namespace thrust
