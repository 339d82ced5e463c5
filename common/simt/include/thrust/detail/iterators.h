// Iterators without memory of their own. They hold others as a kernel takes them once `bare` has gone through them.
#pragma once

#include "../device_ptr.h"
#include "../tuple.h"

namespace thrust {
namespace detail {

// What every random access iterator has, of Derived::move(n), from(other) and operator*.
template <typename Derived, typename Value, typename Reference, typename SystemOfIt>
struct Iterator {
  using System = SystemOfIt;
  using value_type = Value;
  using reference = Reference;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;

  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  Derived& operator+=(difference_type n) { return self().move(n), self(); }
  Derived& operator-=(difference_type n) { return self().move(-n), self(); }
  Derived& operator++() { return *this += 1; }
  Derived& operator--() { return *this -= 1; }
  Derived operator++(int) {
    const Derived before = self();
    return *this += 1, before;
  }
  Derived operator+(difference_type n) const {
    Derived moved = self();
    return moved += n;
  }
  Derived operator-(difference_type n) const { return *this + -n; }
  difference_type operator-(const Derived& other) const { return self().from(other); }
  bool operator==(const Derived& other) const { return self().from(other) == 0; }
  bool operator!=(const Derived& other) const { return self().from(other) != 0; }
  bool operator<(const Derived& other) const { return self().from(other) < 0; }
  Reference operator[](difference_type i) const { return *(*this + i); }
};

// Places of iterators that hand what is written to a function.
template <typename Function, typename Inner>
struct Written {
  Function function;
  Inner inner;
  template <typename T>
  const Written& operator=(const T& value) const {
    Function own = function;
    *Inner(inner) = own(value);
    return *this;
  }
};
template <typename Read, typename Write, typename Inner>
struct ReadWritten : Written<Write, Inner> {
  using Written<Write, Inner>::operator=;
  Read read;
  ReadWritten(const Written<Write, Inner>& written, const Read& read) : Written<Write, Inner>(written), read(read) {}
  operator std::decay_t<std::invoke_result_t<Read, typename std::iterator_traits<Inner>::value_type>>() const {
    Read own = read;
    return own(*this->inner);
  }
};
template <typename Function, typename Index>
struct Tabulated {
  Function function;
  Index at;
  template <typename T>
  const Tabulated& operator=(const T& value) const {
    Function own = function;
    own(at, value);
    return *this;
  }
};

}  // namespace detail

template <typename T>
struct counting_iterator : detail::Iterator<counting_iterator<T>, T, T, detail::Either> {
  T value;
  explicit counting_iterator(T first = T()) : value(first) {}
  T operator*() const { return value; }
  void move(std::ptrdiff_t n) { value = static_cast<T>(value + n); }
  std::ptrdiff_t from(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(value) - static_cast<std::ptrdiff_t>(other.value);
  }
};
template <typename T>
counting_iterator<T> make_counting_iterator(T first) {
  return counting_iterator<T>(first);
}

template <typename T>
struct constant_iterator : detail::Iterator<constant_iterator<T>, T, T, detail::Either> {
  T value;
  std::ptrdiff_t at;
  explicit constant_iterator(T value = T(), std::ptrdiff_t at = 0) : value(value), at(at) {}
  T operator*() const { return value; }
  void move(std::ptrdiff_t n) { at += n; }
  std::ptrdiff_t from(const constant_iterator& other) const { return at - other.at; }
};
template <typename T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t at = 0) {
  return constant_iterator<T>(value, at);
}

// Values written to it are discarded.
struct discard_iterator : detail::Iterator<discard_iterator, int, const discard_iterator&, detail::Either> {
  std::ptrdiff_t at = 0;
  const discard_iterator& operator*() const { return *this; }
  template <typename T, typename = std::enable_if_t<!std::is_same<T, discard_iterator>::value>>
  const discard_iterator& operator=(const T&) const {
    return *this;
  }
  void move(std::ptrdiff_t n) { at += n; }
  std::ptrdiff_t from(const discard_iterator& other) const { return at - other.at; }
};
inline discard_iterator make_discard_iterator() { return {}; }

template <typename Function, typename Inner>
struct transform_iterator
    : detail::Iterator<transform_iterator<Function, Inner>,
                       std::decay_t<std::invoke_result_t<Function, typename std::iterator_traits<Inner>::reference>>,
                       std::decay_t<std::invoke_result_t<Function, typename std::iterator_traits<Inner>::reference>>,
                       typename detail::SystemOf<Inner>::type> {
  Inner inner;
  Function function;
  transform_iterator(Inner inner, Function function) : inner(inner), function(function) {}
  typename transform_iterator::value_type operator*() const {
    Function own = function;
    return own(*inner);
  }
  void move(std::ptrdiff_t n) { inner += n; }
  std::ptrdiff_t from(const transform_iterator& other) const { return inner - other.inner; }
};
template <typename Inner, typename Function>
transform_iterator<Function, Inner> make_transform_iterator(Inner inner, Function function) {
  return {inner, function};
}

// What is written to it goes through the function, and then to `inner`.
template <typename Function, typename Inner>
struct transform_output_iterator
    : detail::Iterator<transform_output_iterator<Function, Inner>, detail::ValueOf<Inner>,
                       detail::Written<Function, Inner>, typename detail::SystemOf<Inner>::type> {
  Inner inner;
  Function function;
  transform_output_iterator(Inner inner, Function function) : inner(inner), function(function) {}
  detail::Written<Function, Inner> operator*() const { return {function, inner}; }
  void move(std::ptrdiff_t n) { inner += n; }
  std::ptrdiff_t from(const transform_output_iterator& other) const { return inner - other.inner; }
};
template <typename Inner, typename Function>
transform_output_iterator<Function, Inner> make_transform_output_iterator(Inner inner, Function function) {
  return {inner, function};
}

// What is read comes through one function, what is written goes through the other.
template <typename Read, typename Write, typename Inner>
struct transform_input_output_iterator
    : detail::Iterator<transform_input_output_iterator<Read, Write, Inner>,
                       std::decay_t<std::invoke_result_t<Read, detail::ValueOf<Inner>>>,
                       detail::ReadWritten<Read, Write, Inner>, typename detail::SystemOf<Inner>::type> {
  Inner inner;
  Read read;
  Write write;
  transform_input_output_iterator(Inner inner, Read read, Write write) : inner(inner), read(read), write(write) {}
  detail::ReadWritten<Read, Write, Inner> operator*() const { return {{write, inner}, read}; }
  void move(std::ptrdiff_t n) { inner += n; }
  std::ptrdiff_t from(const transform_input_output_iterator& other) const { return inner - other.inner; }
};
template <typename Inner, typename Read, typename Write>
transform_input_output_iterator<Read, Write, Inner> make_transform_input_output_iterator(Inner inner, Read read,
                                                                                         Write write) {
  return {inner, read, write};
}

// function(i, value) for what is written to place i.
template <typename Function, typename Index = std::ptrdiff_t>
struct tabulate_output_iterator : detail::Iterator<tabulate_output_iterator<Function, Index>, int,
                                                   detail::Tabulated<Function, Index>, detail::Either> {
  Function function;
  Index at;
  explicit tabulate_output_iterator(Function function, Index at = 0) : function(function), at(at) {}
  detail::Tabulated<Function, Index> operator*() const { return {function, at}; }
  void move(std::ptrdiff_t n) { at = static_cast<Index>(at + n); }
  std::ptrdiff_t from(const tabulate_output_iterator& other) const {
    return static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(other.at);
  }
};
template <typename Function>
tabulate_output_iterator<Function> make_tabulate_output_iterator(Function function, std::ptrdiff_t at = 0) {
  return tabulate_output_iterator<Function>(function, at);
}

template <typename Items, typename Places>
struct permutation_iterator
    : detail::Iterator<permutation_iterator<Items, Places>, detail::ValueOf<Items>,
                       typename std::iterator_traits<Items>::reference, detail::Chosen<Items, Places>> {
  Items items;
  Places places;
  permutation_iterator(Items items, Places places) : items(items), places(places) {}
  typename permutation_iterator::reference operator*() const { return items[static_cast<std::ptrdiff_t>(*places)]; }
  void move(std::ptrdiff_t n) { places += n; }
  std::ptrdiff_t from(const permutation_iterator& other) const { return places - other.places; }
};
template <typename Items, typename Places>
permutation_iterator<Items, Places> make_permutation_iterator(Items items, Places places) {
  return {items, places};
}

// From the end to the beginning: it stands one behind what it gives.
template <typename Inner>
struct reverse_iterator
    : detail::Iterator<reverse_iterator<Inner>, detail::ValueOf<Inner>, typename std::iterator_traits<Inner>::reference,
                       typename detail::SystemOf<Inner>::type> {
  Inner inner;
  explicit reverse_iterator(Inner inner) : inner(inner) {}
  Inner base() const { return inner; }
  typename reverse_iterator::reference operator*() const { return *(inner - 1); }
  void move(std::ptrdiff_t n) { inner -= n; }
  std::ptrdiff_t from(const reverse_iterator& other) const { return other.inner - inner; }
};
template <typename Inner>
reverse_iterator<Inner> make_reverse_iterator(Inner inner) {
  return reverse_iterator<Inner>(inner);
}

template <typename Tuple>
struct zip_iterator;
template <typename... Inner>
struct zip_iterator<tuple<Inner...>>
    : detail::Iterator<zip_iterator<tuple<Inner...>>, tuple<detail::ValueOf<Inner>...>,
                       tuple<typename std::iterator_traits<Inner>::reference...>, detail::Chosen<Inner...>> {
  tuple<Inner...> inner;
  explicit zip_iterator(const tuple<Inner...>& inner) : inner(inner) {}
  const tuple<Inner...>& get_iterator_tuple() const { return inner; }
  typename zip_iterator::reference operator*() const {
    return std::apply([](const auto&... each) { return typename zip_iterator::reference(*each...); }, base());
  }
  void move(std::ptrdiff_t n) {
    std::apply([n](auto&... each) { ((each += n), ...); }, static_cast<std::tuple<Inner...>&>(inner));
  }
  std::ptrdiff_t from(const zip_iterator& other) const { return std::get<0>(base()) - std::get<0>(other.base()); }
  const std::tuple<Inner...>& base() const { return inner; }
};
template <typename... Inner>
zip_iterator<tuple<Inner...>> make_zip_iterator(const tuple<Inner...>& inner) {
  return zip_iterator<tuple<Inner...>>(inner);
}
template <typename... Inner>
zip_iterator<tuple<Inner...>> make_zip_iterator(const Inner&... inner) {
  return zip_iterator<tuple<Inner...>>(tuple<Inner...>(inner...));
}

// f(thrust::get<0>(t), thrust::get<1>(t), ...)
template <typename Function>
struct zip_function {
  mutable Function function;  // its operator need not be const
  zip_function(Function function) : function(function) {}
  template <typename Tuple>
  decltype(auto) operator()(Tuple&& values) const {
    return std::apply(function, static_cast<const typename std::decay_t<Tuple>::Base&>(values));
  }
};
template <typename Function>
zip_function<Function> make_zip_function(Function function) {
  return {function};
}

namespace detail {
template <typename Function, typename Inner>
auto bare(const transform_iterator<Function, Inner>& it) {
  return make_transform_iterator(bare(it.inner), it.function);
}
template <typename Function, typename Inner>
auto bare(const transform_output_iterator<Function, Inner>& it) {
  return make_transform_output_iterator(bare(it.inner), it.function);
}
template <typename Read, typename Write, typename Inner>
auto bare(const transform_input_output_iterator<Read, Write, Inner>& it) {
  return make_transform_input_output_iterator(bare(it.inner), it.read, it.write);
}
template <typename Items, typename Places>
auto bare(const permutation_iterator<Items, Places>& it) {
  return make_permutation_iterator(bare(it.items), bare(it.places));
}
template <typename Inner>
auto bare(const reverse_iterator<Inner>& it) {
  return make_reverse_iterator(bare(it.inner));
}
template <typename... Inner>
auto bare(const zip_iterator<tuple<Inner...>>& it) {
  return std::apply([](const Inner&... each) { return make_zip_iterator(bare(each)...); }, it.base());
}
}  // namespace detail
}  // namespace thrust
