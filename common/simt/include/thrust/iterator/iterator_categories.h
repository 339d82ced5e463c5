// Where an iterator's items are, and how it moves, as templates of Thrust name it.
#pragma once

#include "../detail/run.h"

namespace thrust {

using device_system_tag = detail::Device;
using host_system_tag = detail::Host;
using any_system_tag = detail::Either;
namespace cuda {
using tag = device_system_tag;
}  // namespace cuda
namespace system {
namespace cuda {
using tag = device_system_tag;
}  // namespace cuda
}  // namespace system

template <typename It>
struct iterator_system {
  using type = typename detail::SystemOf<It>::type;
};

struct incrementable_traversal_tag {};
struct single_pass_traversal_tag : incrementable_traversal_tag {};
struct forward_traversal_tag : single_pass_traversal_tag {};
struct bidirectional_traversal_tag : forward_traversal_tag {};
struct random_access_traversal_tag : bidirectional_traversal_tag {};

using input_device_iterator_tag = std::input_iterator_tag;
using forward_device_iterator_tag = std::forward_iterator_tag;
using random_access_device_iterator_tag = std::random_access_iterator_tag;
using random_access_host_iterator_tag = std::random_access_iterator_tag;
template <typename It>
struct iterator_traversal {
  using type = random_access_traversal_tag;
};

}  // namespace thrust
