// thrust::host_vector: a std::vector that can be made of a device's.
#pragma once

#include <vector>

#include "detail/copying.h"

namespace thrust {

template <typename T, typename Allocator = std::allocator<T>>
class host_vector : public std::vector<T, Allocator> {
  using Base = std::vector<T, Allocator>;

 public:
  using Base::Base;
  host_vector() = default;
  host_vector(const Base& other) : Base(other) {}
  template <typename It,
            typename = std::enable_if_t<std::is_same<typename detail::SystemOf<It>::type, detail::Device>::value>>
  host_vector(It first, It last) : Base(static_cast<size_t>(last - first)) {
    detail::copy_any(first, last, Base::begin());
  }
  template <typename Other, typename = typename Other::IsDeviceVector>
  host_vector(const Other& other) : host_vector(other.begin(), other.end()) {}
  template <typename Other, typename = typename Other::IsDeviceVector>
  host_vector& operator=(const Other& other) {
    return *this = host_vector(other);
  }
};

template <typename T, typename Allocator>
void swap(host_vector<T, Allocator>& a, host_vector<T, Allocator>& b) {
  a.swap(b);
}

}  // namespace thrust
