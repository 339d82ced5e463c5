// What cuBLAS's functions on matrices share: real and complex numbers, which are added up in double and rounded once;
// how a matrix is stored; the names of a function for its four types. Column-major, as all of cuBLAS. Each function is
// a kernel of one thread, as cublas_vectors.h has them.
#pragma once

#include <complex>

#include "../cuComplex.h"
#include "cublas_vectors.h"

enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };

namespace simt::blas {

// What a number of a matrix is computed in.
template <typename T>
struct Number {
  using Wide = double;
  using Real = T;
  static constexpr bool is_complex = false;
};
template <>
struct Number<cuComplex> {
  using Wide = std::complex<double>;
  using Real = float;
  static constexpr bool is_complex = true;
};
template <>
struct Number<cuDoubleComplex> {
  using Wide = std::complex<double>;
  using Real = double;
  static constexpr bool is_complex = true;
};
template <typename T>
using Wide = typename Number<T>::Wide;
template <typename T>
using Real = typename Number<T>::Real;

template <typename T>
Wide<T> wide(const T& x) {
  if constexpr (Number<T>::is_complex)
    return {x.x, x.y};
  else
    return x;
}
template <typename T>
T narrow(const Wide<T>& x) {
  if constexpr (Number<T>::is_complex)
    return {static_cast<Real<T>>(x.real()), static_cast<Real<T>>(x.imag())};
  else
    return static_cast<T>(x);
}
inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(const std::complex<double>& x) { return std::conj(x); }
inline double real_part(double x) { return x; }
inline double real_part(const std::complex<double>& x) { return x.real(); }

// Of a sum and of what stood there before, which beta = 0 does not read.
template <typename T>
void store(T& to, const Wide<T>& sum, const Wide<T>& beta) {
  to = narrow<T>(beta == Wide<T>(0) ? sum : sum + beta * wide(to));
}

inline bool fits(int ld, int rows) { return rows >= 0 && ld >= (rows > 1 ? rows : 1); }

// Where an element lies: in a matrix, in a triangle that is packed, or in a band around the diagonal.
struct Layout {
  enum Kind { matrix, packed, band } kind;
  int n, ld;
  bool lower;                // of a packed triangle
  int below = 0, above = 0;  // of a band: diagonals

  bool holds(int row, int column) const { return kind != band || (row - column <= below && column - row <= above); }
  long long at(long long row, long long column) const {
    if (kind == band) return above + row - column + column * ld;
    if (kind == matrix) return row + column * ld;
    return row + (lower ? (2ll * n - column - 1) * column / 2 : column * (column + 1) / 2);
  }
};
inline Layout full(int ld) { return {Layout::matrix, 0, ld, false}; }
inline Layout packed_triangle(int n, cublasFillMode_t fill) {
  return {Layout::packed, n, 0, fill == CUBLAS_FILL_MODE_LOWER};
}
inline Layout half_band(int k, int ld, cublasFillMode_t fill) {
  const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
  return {Layout::band, 0, ld, lower, lower ? k : 0, lower ? 0 : k};
}

// A matrix that is read, in one of these ways.
template <typename T>
struct Matrix {
  const T* a;
  Layout layout;
  bool lower = false;  // the triangle that is stored

  Wide<T> value(int row, int column) const {
    return layout.holds(row, column) ? wide(a[layout.at(row, column)]) : Wide<T>(0);
  }
  Wide<T> of(cublasOperation_t op, int row, int column) const {
    if (op == CUBLAS_OP_N) return value(row, column);
    return op == CUBLAS_OP_C ? conjugate(value(column, row)) : value(column, row);
  }
  Wide<T> symmetric(int row, int column) const {
    return (row >= column) == lower || row == column ? value(row, column) : value(column, row);
  }
  Wide<T> hermitian(int row, int column) const {
    if (row == column) return real_part(value(row, row));
    return (row > column) == lower ? value(row, column) : conjugate(value(column, row));
  }
};

template <typename T>
constexpr const char* of_type(const char* s, const char* d, const char* c, const char* z) {
  if constexpr (Number<T>::is_complex)
    return sizeof(T) == 8 ? c : z;
  else
    return sizeof(T) == 4 ? s : d;
}

}  // namespace simt::blas

#define SIMT_BLAS_NAME(function, T) \
  simt::blas::of_type<T>("cublasS" #function, "cublasD" #function, "cublasC" #function, "cublasZ" #function)

// The public names of a function for a type; CUDA's header makes the usual name of the one with _v2.
#define SIMT_BLAS_TYPE(P, T, function)                                  \
  inline constexpr auto cublas##P##function = &simt::blas::function<T>; \
  inline constexpr auto cublas##P##function##_v2 = &simt::blas::function<T>;
#define SIMT_BLAS_REAL(function)     \
  SIMT_BLAS_TYPE(S, float, function) \
  SIMT_BLAS_TYPE(D, double, function)
#define SIMT_BLAS_COMPLEX(function)      \
  SIMT_BLAS_TYPE(C, cuComplex, function) \
  SIMT_BLAS_TYPE(Z, cuDoubleComplex, function)
#define SIMT_BLAS_ALL(function) SIMT_BLAS_REAL(function) SIMT_BLAS_COMPLEX(function)
