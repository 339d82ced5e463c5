// CUB's iterators that compute what is read: a function of another iterator's items, the items with their numbers,
// numbers that follow each other, one number.
#pragma once

#include <cstddef>
#include <iterator>

#include "../key_value_pair.cuh"
#include "../thread/thread_load.cuh"

namespace cub {
namespace detail {

// Of Derived::at(i), which reads, and Derived::move(n).
template <typename Derived, typename Value>
struct InputIterator {
  using value_type = Value;
  using reference = Value;
  using pointer = Value*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;

  const Derived& self() const { return static_cast<const Derived&>(*this); }
  Value operator*() const { return self().at(0); }
  Value operator[](difference_type i) const { return self().at(i); }
  Derived operator+(difference_type n) const {
    Derived moved = self();
    moved.move(n);
    return moved;
  }
  Derived operator-(difference_type n) const { return *this + -n; }
  Derived& operator+=(difference_type n) {
    static_cast<Derived&>(*this).move(n);
    return static_cast<Derived&>(*this);
  }
  Derived& operator++() { return *this += 1; }
  Derived operator++(int) {
    const Derived before = self();
    *this += 1;
    return before;
  }
};

}  // namespace detail

template <typename Value, typename Operation, typename It, typename Offset = std::ptrdiff_t>
struct TransformInputIterator : detail::InputIterator<TransformInputIterator<Value, Operation, It, Offset>, Value> {
  TransformInputIterator(It it, Operation operation) : it_(it), operation_(operation) {}
  Value at(std::ptrdiff_t i) const {
    Operation own = operation_;
    return own(it_[i]);
  }
  void move(std::ptrdiff_t n) { it_ = it_ + n; }

 private:
  It it_;
  Operation operation_;
};

template <typename Value, typename Offset = std::ptrdiff_t>
struct CountingInputIterator : detail::InputIterator<CountingInputIterator<Value, Offset>, Value> {
  explicit CountingInputIterator(Value first) : first_(first) {}
  Value at(std::ptrdiff_t i) const { return static_cast<Value>(first_ + static_cast<Value>(i)); }
  void move(std::ptrdiff_t n) { first_ = at(n); }

 private:
  Value first_;
};

template <typename Value, typename Offset = std::ptrdiff_t>
struct ConstantInputIterator : detail::InputIterator<ConstantInputIterator<Value, Offset>, Value> {
  explicit ConstantInputIterator(Value value, Offset = 0) : value_(value) {}
  Value at(std::ptrdiff_t) const { return value_; }
  void move(std::ptrdiff_t) {}

 private:
  Value value_;
};

// What is read through it is read in a certain way, which changes no value.
template <CacheLoadModifier Modifier, typename Value, typename Offset = std::ptrdiff_t>
struct CacheModifiedInputIterator : detail::InputIterator<CacheModifiedInputIterator<Modifier, Value, Offset>, Value> {
  template <typename T>
  explicit CacheModifiedInputIterator(T* items) : items_(items) {}
  Value at(std::ptrdiff_t i) const { return ThreadLoad<Modifier>(items_ + i); }
  void move(std::ptrdiff_t n) { items_ += n; }

 private:
  const Value* items_;
};

// Items with their numbers, as ArgMin and ArgMax give them.
template <typename It, typename Offset = std::ptrdiff_t, typename Value = typename std::iterator_traits<It>::value_type>
struct ArgIndexInputIterator
    : detail::InputIterator<ArgIndexInputIterator<It, Offset, Value>, KeyValuePair<Offset, Value>> {
  explicit ArgIndexInputIterator(It it, std::ptrdiff_t first = 0) : it_(it), first_(first) {}
  KeyValuePair<Offset, Value> at(std::ptrdiff_t i) const { return {static_cast<Offset>(first_ + i), it_[first_ + i]}; }
  void move(std::ptrdiff_t n) { first_ += n; }
  void normalize() {
    it_ = it_ + first_;
    first_ = 0;
  }

 private:
  It it_;
  std::ptrdiff_t first_;
};

}  // namespace cub
