// Iterators that a program makes: of functions of its own (iterator_facade), or of another iterator (iterator_adaptor).
#pragma once

#include "../detail/iterators.h"
#include "iterator_categories.h"
#include "iterator_traits.h"

namespace thrust {

// A program's iterator names it a friend, and keeps the functions that make it one to itself.
struct iterator_core_access {
  template <typename It>
  static decltype(auto) dereference(const It& it) {
    return it.dereference();
  }
  template <typename It>
  static void increment(It& it) {
    it.increment();
  }
  template <typename It>
  static void decrement(It& it) {
    it.decrement();
  }
  template <typename It, typename Difference>
  static void advance(It& it, Difference n) {
    it.advance(n);
  }
  template <typename It, typename Other>
  static bool equal(const It& it, const Other& other) {
    return it.equal(other);
  }
  template <typename It, typename Other>
  static auto distance(const It& from, const Other& to) {
    return from.distance_to(to);
  }
};

template <typename Derived, typename Value, typename SystemOfIt, typename Traversal, typename Reference,
          typename Difference = std::ptrdiff_t>
class iterator_facade {
  using Core = iterator_core_access;
  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }

 public:
  using System = SystemOfIt;
  using value_type = std::remove_cv_t<Value>;
  using reference = Reference;
  using pointer = void;
  using difference_type = Difference;
  using iterator_category = std::random_access_iterator_tag;

  Reference operator*() const { return Core::dereference(self()); }
  Reference operator[](Difference n) const { return *(self() + n); }
  Derived& operator++() { return Core::increment(self()), self(); }
  Derived& operator--() { return Core::decrement(self()), self(); }
  Derived operator++(int) {
    const Derived before = self();
    return ++*this, before;
  }
  Derived operator--(int) {
    const Derived before = self();
    return --*this, before;
  }
  Derived& operator+=(Difference n) { return Core::advance(self(), n), self(); }
  Derived& operator-=(Difference n) { return Core::advance(self(), -n), self(); }
  friend Derived operator+(const Derived& it, Difference n) {
    Derived moved = it;
    return moved += n;
  }
  friend Derived operator+(Difference n, const Derived& it) { return it + n; }
  friend Derived operator-(const Derived& it, Difference n) {
    Derived moved = it;
    return moved -= n;
  }
  friend Difference operator-(const Derived& a, const Derived& b) { return Core::distance(b, a); }
  friend bool operator==(const Derived& a, const Derived& b) { return Core::equal(a, b); }
  friend bool operator!=(const Derived& a, const Derived& b) { return !Core::equal(a, b); }
  friend bool operator<(const Derived& a, const Derived& b) { return Core::distance(a, b) > 0; }
  friend bool operator>(const Derived& a, const Derived& b) { return Core::distance(a, b) < 0; }
  friend bool operator<=(const Derived& a, const Derived& b) { return Core::distance(a, b) >= 0; }
  friend bool operator>=(const Derived& a, const Derived& b) { return Core::distance(a, b) <= 0; }
};

}  // namespace thrust
