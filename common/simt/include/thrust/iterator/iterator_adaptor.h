// An iterator that does with another what the program's derived class does not say otherwise.
#pragma once

#include "iterator_facade.h"

namespace thrust {

struct use_default {};

namespace detail {
template <typename Given, typename Otherwise>
using Or = std::conditional_t<std::is_same<Given, use_default>::value, Otherwise, Given>;
template <typename Base, typename Value, typename Reference>
using AdaptedReference =
    Or<Reference,
       std::conditional_t<std::is_same<Value, use_default>::value, typename std::iterator_traits<Base>::reference,
                          std::add_lvalue_reference_t<Value>>>;
template <typename Derived, typename Base, typename Value, typename OfSystem, typename Traversal, typename Reference,
          typename Difference>
using Adapted = iterator_facade<Derived, Or<Value, ValueOf<Base>>, Or<OfSystem, typename SystemOf<Base>::type>,
                                Traversal, AdaptedReference<Base, Value, Reference>,
                                Or<Difference, typename std::iterator_traits<Base>::difference_type>>;
}  // namespace detail

template <typename Derived, typename Base, typename Value = use_default, typename OfSystem = use_default,
          typename Traversal = use_default, typename Reference = use_default, typename Difference = use_default>
class iterator_adaptor : public detail::Adapted<Derived, Base, Value, OfSystem, Traversal, Reference, Difference> {
  using Facade = detail::Adapted<Derived, Base, Value, OfSystem, Traversal, Reference, Difference>;
  friend struct iterator_core_access;

 public:
  using base_type = Base;
  using super_t = iterator_adaptor;
  iterator_adaptor() = default;
  explicit iterator_adaptor(const Base& base) : base_(base) {}
  const Base& base() const { return base_; }

 protected:
  Base& base_reference() { return base_; }
  const Base& base_reference() const { return base_; }

 private:
  typename Facade::reference dereference() const { return *base_; }
  void increment() { ++base_; }
  void decrement() { --base_; }
  void advance(typename Facade::difference_type n) { base_ += n; }
  template <typename Other>
  bool equal(const Other& other) const {
    return base_ == other.base();
  }
  template <typename Other>
  typename Facade::difference_type distance_to(const Other& other) const {
    return other.base() - base_;
  }

  Base base_;
};

}  // namespace thrust
