#pragma once
#include <iterator>

#include "../device_ptr.h"
#include "iterator_categories.h"

namespace thrust {
using std::iterator_traits;
template <typename It>
using iterator_value_t = typename iterator_traits<It>::value_type;
template <typename It>
using iterator_difference_t = typename iterator_traits<It>::difference_type;
template <typename It>
struct iterator_value {
  using type = typename iterator_traits<It>::value_type;
};
template <typename It>
struct iterator_difference {
  using type = typename iterator_traits<It>::difference_type;
};
template <typename It>
struct iterator_reference {
  using type = typename iterator_traits<It>::reference;
};
}  // namespace thrust
