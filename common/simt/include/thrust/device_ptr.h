// Pointers to the device's memory. The host may follow them, too: each of its accesses is a copy.
#pragma once

#include <cstddef>
#include <utility>

#include "detail/run.h"

namespace thrust {

template <typename T>
class device_ptr;

template <typename T>
class device_reference {
 public:
  using Value = std::remove_const_t<T>;
  explicit device_reference(T* at) : at_(at) {}
  device_reference(const device_reference&) = default;
  operator Value() const {
    if (simt::in_kernel()) return *at_;
    alignas(Value) unsigned char bytes[sizeof(Value)];
    detail::expect(cudaMemcpy(bytes, at_, sizeof(Value), cudaMemcpyDeviceToHost), "thrust: reading device memory");
    return *reinterpret_cast<Value*>(bytes);
  }
  const device_reference& operator=(const Value& value) const {
    if (simt::in_kernel()) return *const_cast<Value*>(at_) = value, *this;
    detail::expect(cudaMemcpy(const_cast<Value*>(at_), &value, sizeof(Value), cudaMemcpyHostToDevice),
                   "thrust: writing device memory");
    return *this;
  }
  const device_reference& operator=(const device_reference& other) const { return *this = Value(other); }
#define SIMT_CHANGES(symbol)                                             \
  template <typename Other>                                              \
  const device_reference& operator symbol##=(const Other& other) const { \
    return *this = static_cast<Value>(Value(*this) symbol other);        \
  }
  SIMT_CHANGES(+)
  SIMT_CHANGES(-)
  SIMT_CHANGES(*)
  SIMT_CHANGES(/)
  SIMT_CHANGES(%)
  SIMT_CHANGES(&)
  SIMT_CHANGES(|)
  SIMT_CHANGES(^)
  SIMT_CHANGES(<<)
  SIMT_CHANGES(>>)
#undef SIMT_CHANGES
  const device_reference& operator++() const { return *this += 1; }
  const device_reference& operator--() const { return *this -= 1; }
  Value operator++(int) const {
    const Value before = *this;
    return ++*this, before;
  }
  Value operator--(int) const {
    const Value before = *this;
    return --*this, before;
  }
  device_ptr<T> operator&() const { return device_ptr<T>(at_); }

 private:
  T* at_;
};

template <typename T>
class device_ptr {
 public:
  using System = detail::Device;
  using value_type = std::remove_const_t<T>;
  using difference_type = std::ptrdiff_t;
  using reference = device_reference<T>;
  using pointer = device_ptr;
  using iterator_category = std::random_access_iterator_tag;

  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* at) : at_(at) {}
  template <typename U, typename = std::enable_if_t<std::is_convertible<U*, T*>::value>>
  device_ptr(const device_ptr<U>& other) : at_(other.get()) {}
  T* get() const { return at_; }
  T* raw() const { return at_; }
  reference operator*() const { return reference(at_); }
  reference operator[](difference_type i) const { return reference(at_ + i); }
  device_ptr& operator+=(difference_type n) { return at_ += n, *this; }
  device_ptr& operator-=(difference_type n) { return at_ -= n, *this; }
  device_ptr& operator++() { return *this += 1; }
  device_ptr& operator--() { return *this -= 1; }
  device_ptr operator++(int) { return device_ptr(at_++); }
  device_ptr operator--(int) { return device_ptr(at_--); }
  friend device_ptr operator+(device_ptr p, difference_type n) { return p += n; }
  friend device_ptr operator+(difference_type n, device_ptr p) { return p += n; }
  friend device_ptr operator-(device_ptr p, difference_type n) { return p -= n; }
  explicit operator bool() const { return at_; }

 private:
  T* at_ = nullptr;
};
template <typename T, typename U>
std::ptrdiff_t operator-(const device_ptr<T>& a, const device_ptr<U>& b) {
  return a.get() - b.get();
}
template <typename T>
void swap(device_ptr<T>& a, device_ptr<T>& b) {
  std::swap(a, b);
}
#define SIMT_COMPARES(symbol)                                            \
  template <typename T, typename U>                                      \
  bool operator symbol(const device_ptr<T>& a, const device_ptr<U>& b) { \
    return a.get() symbol b.get();                                       \
  }
SIMT_COMPARES(==)
SIMT_COMPARES(!=)
SIMT_COMPARES(<)
SIMT_COMPARES(<=)
SIMT_COMPARES(>)
SIMT_COMPARES(>=)
#undef SIMT_COMPARES

template <typename T>
T* raw_pointer_cast(const device_ptr<T>& pointer) {
  return pointer.get();
}
template <typename T>
T* raw_pointer_cast(T* pointer) {
  return pointer;
}
template <typename T>
T& raw_reference_cast(const device_reference<T>& reference) {
  return *(&reference).get();
}
template <typename T>
T& raw_reference_cast(T& reference) {
  return reference;
}
template <typename T>
device_ptr<T> device_pointer_cast(T* pointer) {
  return device_ptr<T>(pointer);
}
template <typename T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& pointer) {
  return pointer;
}
template <typename T>
device_ptr<T> device_malloc(size_t count) {
  T* at = nullptr;
  detail::expect(cudaMalloc(&at, count * sizeof(T)), "thrust::device_malloc");
  return device_ptr<T>(at);
}
inline device_ptr<void> device_malloc(size_t bytes) { return device_ptr<void>(device_malloc<char>(bytes).get()); }
template <typename T>
void device_free(const device_ptr<T>& pointer) {
  cudaFree(const_cast<std::remove_const_t<T>*>(pointer.get()));
}

// Of a system that its tag names. Without a type, bytes.
template <typename T>
device_ptr<T> malloc(const detail::Device&, size_t count) {
  return device_malloc<T>(count);
}
inline device_ptr<void> malloc(const detail::Device&, size_t bytes) { return device_malloc(bytes); }
template <typename T>
void free(const detail::Device&, const device_ptr<T>& pointer) {
  device_free(pointer);
}
template <typename T>
T* malloc(const detail::Host&, size_t count) {
  return static_cast<T*>(::operator new(count * sizeof(T)));
}
template <typename T>
void free(const detail::Host&, T* pointer) {
  ::operator delete(pointer);
}

namespace cuda {
template <typename T>
using pointer = device_ptr<T>;
template <typename T>
device_ptr<T> malloc(size_t count) {
  return device_malloc<T>(count);
}
template <typename T>
void free(const device_ptr<T>& pointer) {
  device_free(pointer);
}
}  // namespace cuda

template <typename T>
struct device_allocator {
  using value_type = T;
  using pointer = device_ptr<T>;
  using size_type = size_t;
  template <typename U>
  struct rebind {
    using other = device_allocator<U>;
  };
  device_allocator() = default;
  template <typename U>
  device_allocator(const device_allocator<U>&) {}
  pointer allocate(size_t count) { return device_malloc<T>(count); }
  void deallocate(pointer items, size_t) { device_free(items); }
};
template <typename T>
using device_malloc_allocator = device_allocator<T>;

namespace detail {
template <typename T>
T* bare(const device_ptr<T>& pointer) {
  return pointer.get();
}
}  // namespace detail
}  // namespace thrust
