// thrust::device_vector: an array of the device's, which the host may read and write item by item, slowly.
#pragma once

#include <initializer_list>
#include <iostream>
#include <vector>

// Programs take from it what Thrust's own brings.
#include "advance.h"
#include "distance.h"
#include "equal.h"
#include "find.h"
#include "generate.h"
#include "host_vector.h"
#include "reduce.h"
#include "scan.h"
#include "swap.h"
#include "iterator/iterator_traits.h"
#include "iterator/reverse_iterator.h"
#include "uninitialized_fill.h"

namespace thrust {

// Memory comes from cudaMalloc, also where a program names an allocator of its own.
template <typename T, typename Allocator = device_allocator<T>>
class device_vector {
 public:
  using allocator_type = Allocator;
  using IsDeviceVector = void;
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using reference = device_reference<T>;
  using const_reference = device_reference<const T>;
  using pointer = device_ptr<T>;
  using const_pointer = device_ptr<const T>;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using reverse_iterator = thrust::reverse_iterator<iterator>;
  using const_reverse_iterator = thrust::reverse_iterator<const_iterator>;

  device_vector() = default;
  explicit device_vector(size_t count, const T& value = T()) { resize(count, value); }
  device_vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  device_vector(It first, It last) {
    assign(first, last);
  }
  template <typename U, typename A>
  device_vector(const std::vector<U, A>& other) {
    assign(other.begin(), other.end());
  }
  device_vector(const device_vector& other) { assign(other.begin(), other.end()); }
  device_vector(device_vector&& other) noexcept { swap(other); }
  template <typename U, typename A>
  device_vector(const device_vector<U, A>& other) {
    assign(other.begin(), other.end());
  }
  device_vector& operator=(const device_vector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <typename U, typename A>
  device_vector& operator=(const std::vector<U, A>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  ~device_vector() { cudaFree(items_); }

  iterator begin() { return iterator(items_); }
  iterator end() { return iterator(items_ + size_); }
  const_iterator begin() const { return const_iterator(items_); }
  const_iterator end() const { return const_iterator(items_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  pointer data() { return begin(); }
  const_pointer data() const { return begin(); }
  reference operator[](size_t i) { return reference(items_ + i); }
  const_reference operator[](size_t i) const { return const_reference(items_ + i); }
  reference front() { return (*this)[0]; }
  const_reference front() const { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  const_reference back() const { return (*this)[size_ - 1]; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

  void reserve(size_t count) {
    if (count <= capacity_) return;
    T* larger = nullptr;
    detail::expect(cudaMalloc(&larger, count * sizeof(T)), "thrust::device_vector");
    if (size_)
      detail::expect(cudaMemcpy(static_cast<void*>(larger), items_, size_ * sizeof(T), cudaMemcpyDeviceToDevice),
                     "thrust::device_vector");
    cudaFree(items_);
    items_ = larger;
    capacity_ = count;
  }
  void resize(size_t count, const T& value = T()) {
    if (count > size_) {
      reserve(count);
      const std::vector<Plain> values(count - size_, Plain{value});
      detail::copy_to_device(reinterpret_cast<const T*>(values.data()), items_ + size_, values.size());
    }
    size_ = count;
  }
  void clear() { size_ = 0; }
  void shrink_to_fit() {
    if (capacity_ > size_) device_vector(*this).swap(*this);
  }
  void push_back(const T& value) {
    if (size_ == capacity_) reserve(size_ ? 2 * size_ : 1);
    (*this)[size_++] = value;
  }
  void pop_back() { size_--; }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  void assign(It first, It last) {
    const auto count = static_cast<size_t>(std::distance(first, last));
    size_ = 0;
    reserve(count);
    size_ = count;
    detail::copy_any(first, last, begin());
  }
  void assign(size_t count, const T& value) {
    size_ = 0;
    resize(count, value);
  }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  void insert(iterator at, It first, It last) {
    const auto before = static_cast<std::ptrdiff_t>(at - begin());
    const device_vector items(first, last), rest(at, end());  // copies: the items may be this vector's own
    reserve(size_ + items.size());
    size_ += items.size();
    const iterator next = detail::copy_any(items.begin(), items.end(), begin() + before);
    detail::copy_any(rest.begin(), rest.end(), next);
  }
  iterator insert(iterator at, const T& value) {
    const auto before = static_cast<std::ptrdiff_t>(at - begin());
    insert(at, 1, value);
    return begin() + before;
  }
  template <typename Count, typename = std::enable_if_t<std::is_integral<Count>::value>>
  void insert(iterator at, Count count, const T& value) {
    const device_vector items(static_cast<size_t>(count), value);
    insert(at, items.begin(), items.end());
  }
  iterator erase(iterator first, iterator last) {
    const device_vector rest(last, end());
    detail::copy_any(rest.begin(), rest.end(), first);
    size_ -= static_cast<size_t>(last - first);
    return first;
  }
  iterator erase(iterator at) { return erase(at, at + 1); }
  void swap(device_vector& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  struct Plain {  // std::vector<bool> has no array
    T value;
  };
  T* items_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

template <typename T, typename A, typename B>
bool operator==(const device_vector<T, A>& a, const device_vector<T, B>& b) {
  return std::vector<T>(host_vector<T>(a)) == std::vector<T>(host_vector<T>(b));
}
template <typename T, typename Own, typename A>
bool operator==(const device_vector<T, Own>& a, const std::vector<T, A>& b) {
  return std::vector<T>(host_vector<T>(a)) == std::vector<T>(b.begin(), b.end());
}
template <typename T, typename Own, typename A>
bool operator==(const std::vector<T, A>& a, const device_vector<T, Own>& b) {
  return b == a;
}
template <typename T, typename Own, typename Other>
bool operator!=(const device_vector<T, Own>& a, const Other& b) {
  return !(a == b);
}
template <typename T, typename Own>
void swap(device_vector<T, Own>& a, device_vector<T, Own>& b) {
  a.swap(b);
}

}  // namespace thrust
