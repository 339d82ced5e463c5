// libcu++'s extents, and the layouts that map the indices of a cuda::std::mdspan to an offset.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../cuda/std/array"
#include "../cuda/std/span"
#include "../cuda_runtime.h"

namespace cuda {
namespace std {

template <typename Index, ::std::size_t... Static>
class extents {
  static_assert(::std::is_integral<Index>::value, "the index of cuda::std::extents is an integer");

 public:
  using index_type = Index;
  using size_type = ::std::make_unsigned_t<Index>;
  using rank_type = ::std::size_t;

  __host__ __device__ static constexpr rank_type rank() { return sizeof...(Static); }
  __host__ __device__ static constexpr rank_type rank_dynamic() {
    return (rank_type{0} + ... + (Static == dynamic_extent ? 1 : 0));
  }
  __host__ __device__ static constexpr ::std::size_t static_extent(rank_type r) {
    constexpr ::std::size_t all[] = {Static..., 0};
    return all[r];
  }

  constexpr extents() = default;
  // All extents, or the dynamic ones alone.
  template <typename... Given,
            ::std::enable_if_t<(::std::is_convertible<Given, Index>::value && ...) && (sizeof...(Given) > 0) &&
                                   (sizeof...(Given) == sizeof...(Static) ||
                                    sizeof...(Given) == (::std::size_t{0} + ... + (Static == dynamic_extent ? 1 : 0))),
                               int> = 0>
  __host__ __device__ constexpr explicit extents(Given... given) {
    const Index all[] = {static_cast<Index>(given)...};
    take(all, sizeof...(Given));
  }
  template <typename Given, ::std::size_t N>
  __host__ __device__ constexpr extents(const array<Given, N>& given) {
    take(given.data(), N);
  }
  template <typename Given, ::std::size_t N>
  __host__ __device__ constexpr extents(const span<Given, N>& given) {
    take(given.data(), N);
  }
  template <typename Other, ::std::size_t... OtherStatic,
            ::std::enable_if_t<sizeof...(OtherStatic) == sizeof...(Static), int> = 0>
  __host__ __device__ constexpr extents(const extents<Other, OtherStatic...>& other) {
    for (rank_type r = 0; r < rank(); r++)
      if (static_extent(r) == dynamic_extent) dynamic_[place_of(r)] = static_cast<Index>(other.extent(r));
  }

  __host__ __device__ constexpr Index extent(rank_type r) const {
    return static_extent(r) == dynamic_extent ? dynamic_[place_of(r)] : static_cast<Index>(static_extent(r));
  }

  template <typename Other, ::std::size_t... OtherStatic>
  __host__ __device__ friend constexpr bool operator==(const extents& a, const extents<Other, OtherStatic...>& b) {
    if (sizeof...(OtherStatic) != sizeof...(Static)) return false;
    for (rank_type r = 0; r < rank(); r++)
      if (static_cast<::std::size_t>(a.extent(r)) != static_cast<::std::size_t>(b.extent(r))) return false;
    return true;
  }
  template <typename Other, ::std::size_t... OtherStatic>
  __host__ __device__ friend constexpr bool operator!=(const extents& a, const extents<Other, OtherStatic...>& b) {
    return !(a == b);
  }

 private:
  // Of the dynamic extents, which one is that of rank r?
  __host__ __device__ static constexpr rank_type place_of(rank_type r) {
    rank_type before = 0;
    for (rank_type i = 0; i < r; i++) before += static_extent(i) == dynamic_extent;
    return before;
  }
  template <typename Given>
  __host__ __device__ constexpr void take(const Given* given, rank_type count) {
    for (rank_type r = 0; r < rank(); r++)
      if (static_extent(r) == dynamic_extent)
        dynamic_[place_of(r)] = static_cast<Index>(given[count == rank() ? r : place_of(r)]);
  }

  struct Nothing {
    __host__ __device__ constexpr Index& operator[](rank_type) { return *static_cast<Index*>(nullptr); }
    __host__ __device__ constexpr Index operator[](rank_type) const { return 0; }
  };
  static constexpr rank_type kept = (rank_type{0} + ... + (Static == dynamic_extent ? 1 : 0));
  struct Kept {
    Index values[kept == 0 ? 1 : kept] = {};
    __host__ __device__ constexpr Index& operator[](rank_type i) { return values[i]; }
    __host__ __device__ constexpr Index operator[](rank_type i) const { return values[i]; }
  };
  [[no_unique_address]] ::std::conditional_t<kept == 0, Nothing, Kept> dynamic_;
};

namespace detail {
template <typename Index, typename Ranks>
struct AllDynamic;
template <typename Index, ::std::size_t... Rank>
struct AllDynamic<Index, ::std::index_sequence<Rank...>> {
  using type = extents<Index, (Rank, dynamic_extent)...>;
};
}  // namespace detail
template <typename Index, ::std::size_t Rank>
using dextents = typename detail::AllDynamic<Index, ::std::make_index_sequence<Rank>>::type;
template <::std::size_t Rank, typename Index = ::std::size_t>
using dims = dextents<Index, Rank>;
template <typename... Given>
extents(Given...) -> extents<::std::size_t, (static_cast<void>(sizeof(Given)), dynamic_extent)...>;

namespace detail {

// What layout_right and layout_left have in common. Strides are those of rows one after the other (right: the last
// index is the fastest) or of columns (left: the first).
template <typename Extents, bool right>
class Dense {
 public:
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = typename Extents::rank_type;

  constexpr Dense() = default;
  __host__ __device__ constexpr Dense(const Extents& of) : extents_(of) {}

  __host__ __device__ constexpr const Extents& extents() const { return extents_; }
  __host__ __device__ constexpr index_type stride(rank_type r) const {
    index_type stride = 1;
    if (right)
      for (rank_type i = r + 1; i < Extents::rank(); i++) stride *= extents_.extent(i);
    else
      for (rank_type i = 0; i < r; i++) stride *= extents_.extent(i);
    return stride;
  }
  __host__ __device__ constexpr index_type required_span_size() const {
    index_type size = 1;
    for (rank_type i = 0; i < Extents::rank(); i++) size *= extents_.extent(i);
    return size;
  }
  template <typename... Indices>
  __host__ __device__ constexpr index_type operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == Extents::rank(), "an index for each rank of the cuda::std::mdspan");
    const index_type at[] = {static_cast<index_type>(indices)..., 0};
    index_type offset = 0;
    for (rank_type i = 0; i < Extents::rank(); i++) {
      const rank_type r = right ? i : Extents::rank() - 1 - i;
      offset = offset * extents_.extent(r) + at[r];
    }
    return offset;
  }

  __host__ __device__ static constexpr bool is_always_unique() { return true; }
  __host__ __device__ static constexpr bool is_always_exhaustive() { return true; }
  __host__ __device__ static constexpr bool is_always_strided() { return true; }
  __host__ __device__ static constexpr bool is_unique() { return true; }
  __host__ __device__ static constexpr bool is_exhaustive() { return true; }
  __host__ __device__ static constexpr bool is_strided() { return true; }

 private:
  [[no_unique_address]] Extents extents_;
};

template <typename Layout, bool right>
struct DenseLayout {
  template <typename Extents>
  class mapping : public Dense<Extents, right> {
   public:
    using layout_type = Layout;
    using Dense<Extents, right>::Dense;
    constexpr mapping() = default;
    template <typename Other, ::std::enable_if_t<::std::is_constructible<Extents, Other>::value, int> = 0>
    __host__ __device__ constexpr mapping(const mapping<Other>& other)
        : Dense<Extents, right>(Extents(other.extents())) {}
    template <typename Other>
    __host__ __device__ friend constexpr bool operator==(const mapping& a, const mapping<Other>& b) {
      return a.extents() == b.extents();
    }
  };
};

}  // namespace detail

struct layout_right : detail::DenseLayout<layout_right, true> {};
struct layout_left : detail::DenseLayout<layout_left, false> {};

struct layout_stride {
  template <typename Extents>
  class mapping {
   public:
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = layout_stride;

    __host__ __device__ constexpr mapping() : mapping(layout_right::mapping<Extents>()) {}
    template <typename Stride>
    __host__ __device__ constexpr mapping(const Extents& of, const array<Stride, Extents::rank()>& strides)
        : extents_(of) {
      for (rank_type r = 0; r < Extents::rank(); r++) strides_[r] = static_cast<index_type>(strides[r]);
    }
    template <typename Stride>
    __host__ __device__ constexpr mapping(const Extents& of, span<Stride, Extents::rank()> strides) : extents_(of) {
      for (rank_type r = 0; r < Extents::rank(); r++) strides_[r] = static_cast<index_type>(strides[r]);
    }
    // From any layout that has strides.
    template <typename Other, typename = typename Other::layout_type,
              ::std::enable_if_t<::std::is_constructible<Extents, typename Other::extents_type>::value, int> = 0>
    __host__ __device__ constexpr mapping(const Other& other) : extents_(other.extents()) {
      for (rank_type r = 0; r < Extents::rank(); r++) strides_[r] = static_cast<index_type>(other.stride(r));
    }

    __host__ __device__ constexpr const Extents& extents() const { return extents_; }
    __host__ __device__ constexpr index_type stride(rank_type r) const { return strides_[r]; }
    __host__ __device__ constexpr array<index_type, Extents::rank()> strides() const {
      array<index_type, Extents::rank()> all{};
      for (rank_type r = 0; r < Extents::rank(); r++) all[r] = strides_[r];
      return all;
    }
    __host__ __device__ constexpr index_type required_span_size() const {
      index_type size = 1;
      for (rank_type r = 0; r < Extents::rank(); r++) {
        if (extents_.extent(r) == 0) return 0;
        size += (extents_.extent(r) - 1) * strides_[r];
      }
      return size;
    }
    template <typename... Indices>
    __host__ __device__ constexpr index_type operator()(Indices... indices) const {
      static_assert(sizeof...(Indices) == Extents::rank(), "an index for each rank of the cuda::std::mdspan");
      const index_type at[] = {static_cast<index_type>(indices)..., 0};
      index_type offset = 0;
      for (rank_type r = 0; r < Extents::rank(); r++) offset += at[r] * strides_[r];
      return offset;
    }

    __host__ __device__ static constexpr bool is_always_unique() { return true; }
    __host__ __device__ static constexpr bool is_always_exhaustive() { return false; }
    __host__ __device__ static constexpr bool is_always_strided() { return true; }
    __host__ __device__ static constexpr bool is_unique() { return true; }
    __host__ __device__ static constexpr bool is_strided() { return true; }
    __host__ __device__ constexpr bool is_exhaustive() const {
      return required_span_size() == layout_right::mapping<Extents>(extents_).required_span_size();
    }
    template <typename Other>
    __host__ __device__ friend constexpr bool operator==(const mapping& a, const mapping<Other>& b) {
      for (rank_type r = 0; r < Extents::rank(); r++)
        if (a.strides_[r] != b.stride(r)) return false;
      return a.extents() == b.extents();
    }

   private:
    [[no_unique_address]] Extents extents_;
    index_type strides_[Extents::rank() == 0 ? 1 : Extents::rank()] = {};
  };
};

}  // namespace std
}  // namespace cuda
