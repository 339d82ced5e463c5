// cuBLAS on symmetric, Hermitian and triangular matrices: full, packed and banded ones, against loops over the whole
// matrix on the host.
#include "blas_arrays.h"

// The whole matrix that a stored triangle stands for: symmetric, Hermitian or triangular; within a band of k diagonals.
template <typename T>
std::vector<Complex> whole(const Array<T>& a, cublasFillMode_t fill, char kind, bool band) {
  const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
  std::vector<Complex> all(n * n);
  for (int c = 0; c < n; c++) {
    for (int r = 0; r < n; r++) {
      const bool here = r == c || (r > c) == lower;
      Complex x = here ? a[r + c * ld] : kind == 't' ? 0 : conj_if(kind == 'h', a[c + r * ld]);
      if (r == c && kind == 'h') x = x.real();
      if (band && std::abs(r - c) > k) x = 0;
      all[r + c * n] = x;
    }
  }
  return all;
}
// The same triangle as cuBLAS packs it, or as it stores a band.
template <typename T>
void pack(const Array<T>& a, cublasFillMode_t fill, Array<T>* packed, Array<T>* band) {
  const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
  int next = 0;
  for (int c = 0; c < n; c++) {
    for (int r = lower ? c : 0; r < (lower ? n : c + 1); r++) {
      packed->host[next++] = a.host[r + c * ld];
      if (std::abs(r - c) <= k) band->host[(lower ? r - c : k + r - c) + c * ld] = a.host[r + c * ld];
    }
  }
  packed->up(), band->up();
}
// Of x = op(A) x, and of the x that op(A) x = b has.
template <typename T, typename Multiply, typename Solve>
void triangle_is(const char* what, const std::vector<Complex>& a, const Multiply& multiply, const Solve& solve) {
  Array<T> x(n, 3);
  const Array<T> before(n, 3);
  CHECK(multiply(x.device));
  x.down();
  for (int r = 0; r < n; r++) {
    Complex sum = 0;
    for (int c = 0; c < n; c++) sum += a[r + c * n] * before[c];
    near(x[r], sum, what);
  }
  CHECK(solve(x.device));
  x.down();
  for (int r = 0; r < n; r++) near(x[r], before[r], what);
}
// A's triangle after an update.
template <typename T>
void updated(const char* what, const Array<T>& a, const Array<T>& before, cublasFillMode_t fill, bool packed,
             bool hermitian, const std::vector<Complex>& term) {
  const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
  int next = 0;
  for (int c = 0; c < n; c++) {
    for (int r = 0; r < n; r++) {
      const bool here = r == c || (r > c) == lower;
      if (packed && !here) continue;
      const int at = packed ? next++ : r + c * ld;
      Complex right = before[at] + (here ? term[r + c * n] : 0);
      if (hermitian && r == c) right = right.real();
      near(a[at], right, what);
    }
  }
}
std::vector<Complex> outer(Complex alpha, const std::vector<Complex>& x, const std::vector<Complex>& y,
                           bool conjugated) {
  std::vector<Complex> all(n * n);
  for (int c = 0; c < n; c++)
    for (int r = 0; r < n; r++) all[r + c * n] = alpha * x[r] * conj_if(conjugated, y[c]);
  return all;
}
std::vector<Complex> sum_of(std::vector<Complex> a, const std::vector<Complex>& b) {
  for (int i = 0; i < n * n; i++) a[i] += b[i];
  return a;
}
#define TRIANGLES(P, T)                                                                                              \
  for (const cublasFillMode_t fill : fills) {                                                                        \
    Array<T> a(ld*n, 7), packed(n*(n + 1) / 2), band(ld*n);                                                          \
    for (int i = 0; i < n; i++) a.host[i + i * ld] = Make<T>::of(value(a.host[i + i * ld]) + 4.0);                   \
    a.up();                                                                                                          \
    pack(a, fill, &packed, &band);                                                                                   \
    for (const cublasOperation_t op : ops) {                                                                         \
      const cublasDiagType_t d = op == CUBLAS_OP_T ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;                        \
      std::vector<Complex> full = whole(a, fill, 't', false), narrow = whole(a, fill, 't', true);                    \
      for (int i = 0; i < n && d == CUBLAS_DIAG_UNIT; i++) full[i + i * n] = narrow[i + i * n] = 1;                  \
      triangle_is<T>(                                                                                                \
          #P "tr", op_of(full, op), [&](T* x) { return cublas##P##trmv(h, fill, op, d, n, a.device, ld, x, 1); },    \
          [&](T* x) { return cublas##P##trsv(h, fill, op, d, n, a.device, ld, x, 1); });                             \
      triangle_is<T>(                                                                                                \
          #P "tp", op_of(full, op), [&](T* x) { return cublas##P##tpmv(h, fill, op, d, n, packed.device, x, 1); },   \
          [&](T* x) { return cublas##P##tpsv(h, fill, op, d, n, packed.device, x, 1); });                            \
      triangle_is<T>(                                                                                                \
          #P "tb", op_of(narrow, op),                                                                                \
          [&](T* x) { return cublas##P##tbmv(h, fill, op, d, n, k, band.device, ld, x, 1); },                        \
          [&](T* x) { return cublas##P##tbsv(h, fill, op, d, n, k, band.device, ld, x, 1); });                       \
      /* From the right, of a matrix of one row. */                                                                  \
      const T one = Make<T>::of(1);                                                                                  \
      std::vector<Complex> turned(n* n);                                                                             \
      for (int i = 0; i < n * n; i++) turned[i] = op_of(full, op)[i / n + i % n * n];                                \
      triangle_is<T>(                                                                                                \
          #P "tr, from the right", turned,                                                                           \
          [&](T* x) {                                                                                                \
            return cublas##P##trmm(h, CUBLAS_SIDE_RIGHT, fill, op, d, 1, n, &one, a.device, ld, x, 1, x, 1);         \
          },                                                                                                         \
          [&](T* x) { return cublas##P##trsm(h, CUBLAS_SIDE_RIGHT, fill, op, d, 1, n, &one, a.device, ld, x, 1); }); \
    }                                                                                                                \
  }
#define MIRRORED(P, sy, sb, sp, kind, T)                                                                    \
  for (const cublasFillMode_t fill : fills) {                                                               \
    Array<T> a(ld*n, 7), packed(n*(n + 1) / 2), band(ld*n);                                                 \
    pack(a, fill, &packed, &band);                                                                          \
    product_is<T>(#P #sy "mv", whole(a, fill, kind, false), [&](const T* s, const T* x, const T* t, T* y) { \
      return cublas##P##sy##mv(h, fill, n, s, a.device, ld, x, 1, t, y, 1);                                 \
    });                                                                                                     \
    product_is<T>(#P #sb, whole(a, fill, kind, true), [&](const T* s, const T* x, const T* t, T* y) {       \
      return cublas##P##sb(h, fill, n, k, s, band.device, ld, x, 1, t, y, 1);                               \
    });                                                                                                     \
    product_is<T>(#P #sp, whole(a, fill, kind, false), [&](const T* s, const T* x, const T* t, T* y) {      \
      return cublas##P##sp(h, fill, n, s, packed.device, x, 1, t, y, 1);                                    \
    });                                                                                                     \
    /* A matrix's product, of one column. */                                                                \
    product_is<T>(#P #sy "mm", whole(a, fill, kind, false), [&](const T* s, const T* x, const T* t, T* y) { \
      return cublas##P##sy##mm(h, CUBLAS_SIDE_LEFT, fill, n, 1, s, a.device, ld, x, n, t, y, n);            \
    });                                                                                                     \
  }
// R: the type of alpha in the update by one vector.
#define UPDATES(P, sy, sp, hermitian, T, R)                                                                          \
  for (const cublasFillMode_t fill : fills) {                                                                        \
    const Array<T> x(n, 3), y(n, 5), before(ld*n, 7), packed_before(n*(n + 1) / 2, 8);                               \
    const T alpha = Make<T>::of({1.5, 0.5}), beta = Make<T>::of({0.5, -1});                                          \
    const R real = Make<R>::of({1.5, 0.5}), real_beta = Make<R>::of({0.5, -1});                                      \
    const std::vector<Complex> by_one = outer(value(real), values(x), values(x), hermitian),                         \
                               by_two =                                                                              \
                                   sum_of(outer(value(alpha), values(x), values(y), hermitian),                      \
                                          outer(conj_if(hermitian, value(alpha)), values(y), values(x), hermitian)); \
    (void)beta;                                                                                                      \
    {                                                                                                                \
      Array<T> a(ld* n, 7);                                                                                          \
      CHECK(cublas##P##sy(h, fill, n, &real, x.device, 1, a.device, ld));                                            \
      a.down();                                                                                                      \
      updated(#P #sy, a, before, fill, false, hermitian, by_one);                                                    \
    }                                                                                                                \
    {                                                                                                                \
      Array<T> a(ld* n, 7);                                                                                          \
      CHECK(cublas##P##sy##2(h, fill, n, &alpha, x.device, 1, y.device, 1, a.device, ld));                           \
      a.down();                                                                                                      \
      updated(#P #sy "2", a, before, fill, false, hermitian, by_two);                                                \
    }                                                                                                                \
    sp /* By matrices of one column, to which beta = 1 adds. */                                                      \
        const R one = Make<R>::of(1);                                                                                \
    {                                                                                                                \
      Array<T> a(ld* n, 7);                                                                                          \
      CHECK(cublas##P##sy##k(h, fill, CUBLAS_OP_N, n, 1, &real, x.device, n, &one, a.device, ld));                   \
      a.down();                                                                                                      \
      updated(#P #sy "k", a, before, fill, false, hermitian, by_one);                                                \
    }                                                                                                                \
    {                                                                                                                \
      Array<T> a(ld* n, 7);                                                                                          \
      CHECK(cublas##P##sy##2k(h, fill, CUBLAS_OP_N, n, 1, &alpha, x.device, n, y.device, n, &one, a.device, ld));    \
      a.down();                                                                                                      \
      updated(#P #sy "2k", a, before, fill, false, hermitian, by_two);                                               \
    }                                                                                                                \
    {                                                                                                                \
      Array<T> a(ld* n, 7);                                                                                          \
      const std::vector<Complex> term = outer(value(alpha), values(x), values(x), hermitian);                        \
      CHECK(cublas##P##sy##kx(h, fill, CUBLAS_OP_N, n, 1, &alpha, x.device, n, x.device, n, &one, a.device, ld));    \
      a.down();                                                                                                      \
      updated(#P #sy "kx", a, before, fill, false, hermitian, term);                                                 \
    }                                                                                                                \
    (void)real_beta;                                                                                                 \
  }
#define PACKED(P, sp, hermitian, T)                                                  \
  {                                                                                  \
    Array<T> a(n*(n + 1) / 2, 8);                                                    \
    CHECK(cublas##P##sp(h, fill, n, &real, x.device, 1, a.device));                  \
    a.down();                                                                        \
    updated(#P #sp, a, packed_before, fill, true, hermitian, by_one);                \
  }                                                                                  \
  {                                                                                  \
    Array<T> a(n*(n + 1) / 2, 8);                                                    \
    CHECK(cublas##P##sp##2(h, fill, n, &alpha, x.device, 1, y.device, 1, a.device)); \
    a.down();                                                                        \
    updated(#P #sp "2", a, packed_before, fill, true, hermitian, by_two);            \
  }

int main() {
  cublasHandle_t h;
  CHECK(cublasCreate(&h));
  TRIANGLES(S, float)
  TRIANGLES(Z, cuDoubleComplex)
  MIRRORED(D, sy, sbmv, spmv, 's', double)
  MIRRORED(C, he, hbmv, hpmv, 'h', cuComplex)
  UPDATES(S, syr, PACKED(S, spr, false, float), false, float, float)
  UPDATES(Z, syr, , false, cuDoubleComplex, cuDoubleComplex)
  UPDATES(C, her, PACKED(C, hpr, true, cuComplex), true, cuComplex, float)
  CHECK(cublasDestroy(h));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
