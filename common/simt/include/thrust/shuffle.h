// Random orders. A GPU makes another one of the same generator's numbers.
#pragma once

#include "host_vector.h"

namespace thrust {

// On the host, wherever the items are.
template <typename In, typename Out, typename Engine, std::enable_if_t<!detail::is_policy<In>, int> = 0>
void shuffle_copy(In first, In last, Out to, Engine&& engine) {
  host_vector<detail::ValueOf<In>> items(first, last);
  for (size_t i = 1; i < items.size(); i++) {
    std::swap(items[i], items[static_cast<size_t>(engine()) % (i + 1)]);
  }
  detail::copy_any(items.begin(), items.end(), to);
}
template <typename It, typename Engine, std::enable_if_t<!detail::is_policy<It>, int> = 0>
void shuffle(It first, It last, Engine&& engine) {
  shuffle_copy(first, last, first, engine);
}
template <typename Policy, typename In, typename Out, typename Engine,
          std::enable_if_t<detail::is_policy<Policy>, int> = 0>
void shuffle_copy(const Policy&, In first, In last, Out to, Engine&& engine) {
  shuffle_copy(first, last, to, engine);
}
template <typename Policy, typename It, typename Engine, std::enable_if_t<detail::is_policy<Policy>, int> = 0>
void shuffle(const Policy&, It first, It last, Engine&& engine) {
  shuffle_copy(first, last, first, engine);
}

}  // namespace thrust
