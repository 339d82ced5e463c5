// nvcuda::wmma: matrix fragments of a warp, for half, bfloat16, tf32 and 8-bit integers.
//
// CUDA does not say which elements of a matrix a lane holds. Here an accumulator of 16 x 16 has the layout
// of mma.m16n8, once for the left eight columns and once for the right, as on GPUs since compute capability 8.0; all
// other fragments are in row order. On a GPU fragments of factors may hold elements twice, so num_elements may be
// larger there. The accesses of load_matrix_sync and store_matrix_sync are counted for the layout used here. Rounding:
// simt/mma.h.
#pragma once

#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/mma.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}

namespace detail {

template <typename Use, int m, int n, int k>
struct Shape;
template <int m, int n, int k>
struct Shape<matrix_a, m, n, k> {
  static constexpr int rows = m, cols = k;
};
template <int m, int n, int k>
struct Shape<matrix_b, m, n, k> {
  static constexpr int rows = k, cols = n;
};
template <int m, int n, int k>
struct Shape<accumulator, m, n, k> {
  static constexpr int rows = m, cols = n;
};

template <typename T>
struct Stored {
  using type = T;
};
template <>
struct Stored<precision::tf32> {
  using type = float;
};

struct Position {
  int row, col;
};

// The position of a lane's element i in its matrix.
template <int rows, int cols, bool accumulates>
Position position(unsigned lane, int i) {
  if constexpr (accumulates && rows == 16 && cols == 16) {
    return {static_cast<int>(lane) / 4 + i / 2 % 2 * 8, i / 4 * 8 + static_cast<int>(lane) % 4 * 2 + i % 2};
  } else {
    const int at = static_cast<int>(lane) * (rows * cols / 32) + i;
    return {at / cols, at % cols};
  }
}

template <typename T>
auto factor(T value) {
  if constexpr (std::is_integral<T>::value)
    return static_cast<int64_t>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}
inline double tf32_factor(float value) {
  return static_cast<double>(simt::from_bits<float>(static_cast<uint32_t>(simt::to_bits(value)) & 0xffffe000u));
}
template <typename T>
T rounded(double sum) {
  if constexpr (std::is_same<T, __half>::value)
    return __double2half(sum);
  else
    return static_cast<T>(sum);
}

}  // namespace detail

template <typename Use, int m, int n, int k, typename T, typename Layout = void>
class fragment {
  using Shape = detail::Shape<Use, m, n, k>;
  static_assert((m == 16 && n == 16 && (k == 16 || k == 8)) || (m == 32 && n == 8 && k == 16) ||
                    (m == 8 && n == 32 && k == 16),
                "the CPU executor has the shapes 16x16x16, 32x8x16, 8x32x16, and 16x16x8 for tf32");

 public:
  using element_type = typename detail::Stored<T>::type;
  using storage_element_type = element_type;
  static constexpr int rows = Shape::rows, cols = Shape::cols;
  static constexpr int num_elements = rows * cols / 32;
  static constexpr bool accumulates = std::is_same<Use, accumulator>::value;
  element_type x[num_elements];

  static detail::Position position(unsigned lane, int i) { return detail::position<rows, cols, accumulates>(lane, i); }
};

template <typename Use, int m, int n, int k, typename T, typename Layout, typename Value>
void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const Value& value) {
  for (auto& x : f.x) x = static_cast<std::decay_t<decltype(x)>>(value);
}

namespace detail {

template <typename Fragment, typename T>
void load(Fragment& f, const T* from, unsigned stride, bool by_rows, simt::Place place) {
  simt::warp_exchange(simt::full_mask, 0, place);
  for (int i = 0; i < Fragment::num_elements; i++) {
    const Position at = Fragment::position(simt::lane(), i);
    f.x[i] = by_rows ? from[size_t(at.row) * stride + at.col] : from[size_t(at.col) * stride + at.row];
  }
}

// Collects the whole matrix from all lanes.
template <typename Fragment, typename Factor, typename To>
void gather(const Fragment& f, Factor factor, To (&matrix)[Fragment::rows][Fragment::cols], simt::Place place) {
  using Element = typename Fragment::element_type;
  constexpr int each = 8 / sizeof(Element);
  for (int first = 0; first < Fragment::num_elements; first += each) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const void*>(&f.x[first]), 8);
    const simt::mma::AllLanes all(word, place);
    for (unsigned lane = 0; lane < 32; lane++) {
      const uint64_t bits = all[lane];
      Element elements[each];
      std::memcpy(static_cast<void*>(elements), &bits, 8);
      for (int e = 0; e < each; e++) {
        const Position at = Fragment::position(lane, first + e);
        matrix[at.row][at.col] = factor(elements[e]);
      }
    }
  }
}

}  // namespace detail

template <typename Use, int m, int n, int k, typename T, typename Layout, typename Stored>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const Stored* from, unsigned stride,
                      SIMT_PLACE(matrix_load)) {
  static_assert(!std::is_void<Layout>::value, "an accumulator's layout is the last argument");
  detail::load(f, from, stride, std::is_same<Layout, row_major>::value, place);
}
template <int m, int n, int k, typename T>
void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned stride, layout_t layout,
                      SIMT_PLACE(matrix_load)) {
  detail::load(f, from, stride, layout == mem_row_major, place);
}

template <int m, int n, int k, typename T>
void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride, layout_t layout,
                       SIMT_PLACE(matrix_load)) {
  simt::warp_exchange(simt::full_mask, 0, place);
  for (int i = 0; i < f.num_elements; i++) {
    const detail::Position at = f.position(simt::lane(), i);
    to[layout == mem_row_major ? size_t(at.row) * stride + at.col : size_t(at.col) * stride + at.row] = f.x[i];
  }
}

// D = A B + C.
template <int m, int n, int k, typename A, typename LayoutA, typename LayoutB, typename T, typename C>
void mma_sync(fragment<accumulator, m, n, k, T>& d, const fragment<matrix_a, m, n, k, A, LayoutA>& a,
              const fragment<matrix_b, m, n, k, A, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c,
              bool saturate = false, SIMT_PLACE(mma)) {
  using Sum = std::conditional_t<std::is_integral<T>::value, int64_t, double>;
  const auto factor = [](auto value) -> Sum {
    if constexpr (std::is_same<A, precision::tf32>::value)
      return detail::tf32_factor(value);
    else
      return detail::factor(value);
  };
  Sum of_a[m][k], of_b[k][n];
  detail::gather(a, factor, of_a, place);
  detail::gather(b, factor, of_b, place);
  fragment<accumulator, m, n, k, T> result;
  for (int i = 0; i < c.num_elements; i++) {
    const detail::Position at = c.position(simt::lane(), i);
    Sum sum = static_cast<Sum>(detail::factor(c.x[i]));
    for (int inner = 0; inner < k; inner++) sum += of_a[at.row][inner] * of_b[inner][at.col];
    if constexpr (std::is_integral<T>::value)
      result.x[i] = simt::mma::rounded(sum, saturate);
    else
      result.x[i] = detail::rounded<T>(sum);
  }
  d = result;
}

inline float __float_to_tf32(float x) {
  const auto bits = static_cast<uint32_t>(simt::to_bits(x));
  return x != x || std::isinf(x) ? x : simt::from_bits<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace nvcuda

inline float __float_to_tf32(float x) { return nvcuda::wmma::__float_to_tf32(x); }
