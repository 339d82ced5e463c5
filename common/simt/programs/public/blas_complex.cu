// cuBLAS's functions for complex numbers, and general bands, rotations and factors of many small matrices, against
// loops on the host.
#include "blas_arrays.h"

// What all four types have: a banded matrix, rotations, many small matrices.
#define ALL(P, T, R)                                                                                                 \
  {                                                                                                                  \
    Array<T> band(ld* n, 9);                                                                                         \
    const int below = 1, above = 2;                                                                                  \
    std::vector<Complex> a(n* n);                                                                                    \
    for (int c = 0; c < n; c++)                                                                                      \
      for (int r = 0; r < n; r++)                                                                                    \
        if (r - c <= below && c - r <= above) a[r + c * n] = band[above + r - c + c * ld];                           \
    for (const cublasOperation_t op : ops)                                                                           \
      product_is<T>(#P "gbmv", op_of(a, op), [&](const T* s, const T* x, const T* t, T* y) {                         \
        return cublas##P##gbmv(h, op, n, n, below, above, s, band.device, ld, x, 1, t, y, 1);                        \
      });                                                                                                            \
    Array<T> x(1, 3), y(1, 5);                                                                                       \
    R c;                                                                                                             \
    T s, p = x.host[0], q = y.host[0];                                                                               \
    CHECK(cublas##P##rotg(h, &p, &q, &c, &s));                                                                       \
    CHECK(cublas##P##rot(h, 1, x.device, 1, y.device, 1, &c, &s));                                                   \
    x.down(), y.down();                                                                                              \
    near(x[0], value(p), #P "rotg"), near(y[0], 0, #P "rotg's zero");                                                \
    factors<T>(h, cublas##P##matinvBatched, cublas##P##geqrfBatched, cublas##P##gelsBatched, cublas##P##gemvBatched, \
               cublas##P##gemvStridedBatched, cublas##P##getrfBatched, cublas##P##getriBatched);                     \
  }

template <typename T, typename Inverse, typename Reflect, typename Fit, typename Multiply, typename Strided,
          typename Factorise, typename Invert>
void factors(cublasHandle_t h, Inverse matinv, Reflect geqrf, Fit gels, Multiply gemv, Strided strided, Factorise getrf,
             Invert getri) {
  const int m = 5, w = 3, count = 2;
  Array<T> square(w * w * count, 4), inverse(w * w * count), also(w * w * count), tall(m * w * count, 6),
      tau(w * count), sides(m * count, 2);
  const Array<T> tall_before(m * w * count, 6), square_before(w * w * count, 4), sides_before(m * count, 2);
  Array<int> info(count), pivots(w * count);
  const auto pointers = [&](T* base, int step) {
    T* host[count] = {base, base + step};
    T** device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    return device;
  };
  T **of_square = pointers(square.device, w * w), **of_inverse = pointers(inverse.device, w * w),
    **of_also = pointers(also.device, w * w), **of_tall = pointers(tall.device, m * w),
    **of_tau = pointers(tau.device, w), **of_sides = pointers(sides.device, m);
  CHECK(matinv(h, w, of_square, w, of_inverse, w, info.device, count));
  CHECK(getrf(h, w, of_square, w, pivots.device, info.device, count));
  CHECK(getri(h, w, of_square, w, pivots.device, of_also, w, info.device, count));
  inverse.down(), also.down();
  for (int i = 0; i < w * w * count; i++) {
    Complex sum = 0;
    for (int j = 0; j < w; j++)
      sum += square_before[i / 9 * 9 + i % 3 + 3 * j] * inverse[i / 9 * 9 + j + i % 9 / 3 * 3];
    near(sum, i % 9 % 3 == i % 9 / 3 ? 1 : 0, "matinvBatched");
    near(also[i], inverse[i], "getriBatched");
  }
  // R^H R is A^H A; the least squares' rest is orthogonal to A.
  int state = -1;
  CHECK(geqrf(h, m, w, of_tall, m, of_tau, &state, count));
  tall.down();
  for (int b = 0; b < count; b++) {
    for (int r = 0; r < w; r++) {
      for (int c = 0; c < w; c++) {
        Complex right = 0, found = 0;
        for (int i = 0; i < m; i++)
          right += std::conj(tall_before[b * m * w + i + r * m]) * tall_before[b * m * w + i + c * m];
        for (int i = 0; i <= (r < c ? r : c); i++)
          found += std::conj(tall[b * m * w + i + r * m]) * tall[b * m * w + i + c * m];
        near(found, right, "geqrfBatched");
      }
    }
  }
  cudaMemcpy(tall.device, tall_before.host.data(), m * w * count * sizeof(T), cudaMemcpyHostToDevice);
  CHECK(gels(h, CUBLAS_OP_N, m, w, 1, of_tall, m, of_sides, m, &state, info.device, count));
  sides.down();
  for (int b = 0; b < count; b++) {
    for (int c = 0; c < w; c++) {
      Complex sum = 0;
      for (int r = 0; r < m; r++) {
        Complex rest = sides_before[b * m + r];
        for (int j = 0; j < w; j++) rest -= tall_before[b * m * w + r + j * m] * sides[b * m + j];
        sum += std::conj(tall_before[b * m * w + r + c * m]) * rest;
      }
      near(sum, 0, "gelsBatched");
    }
  }
  Array<T> x(w * count, 8), y(m * count, 9), z(m * count, 9);
  T **of_x = pointers(x.device, w), **of_y = pointers(y.device, m);
  const T one = Make<T>::of(1), zero = Make<T>::of(0);
  cudaMemcpy(tall.device, tall_before.host.data(), m * w * count * sizeof(T), cudaMemcpyHostToDevice);
  CHECK(gemv(h, CUBLAS_OP_N, m, w, &one, of_tall, m, of_x, 1, &zero, of_y, 1, count));
  CHECK(strided(h, CUBLAS_OP_N, m, w, &one, tall.device, m, m * w, x.device, 1, w, &zero, z.device, 1, m, count));
  y.down(), z.down();
  for (int i = 0; i < m * count; i++) {
    Complex sum = 0;
    for (int j = 0; j < w; j++) sum += tall_before[i / m * m * w + i % m + j * m] * x[i / m * w + j];
    near(y[i], sum, "gemvBatched"), near(z[i], sum, "gemvStridedBatched");
  }
}

#define COMPLEX(P, R, T, Real)                                                                                      \
  {                                                                                                                 \
    Array<T> x(n, 3), y(n, 5), a(ld*n, 7), b(ld*n, 2), c(ld*n, 1);                                                  \
    const Array<T> y_before(n, 5), c_before(ld*n, 1);                                                               \
    const T alpha = Make<T>::of({1.5, 0.5}), beta = Make<T>::of({0.5, -1});                                         \
    const std::vector<Complex> vx = values(x), vy = values(y);                                                      \
    std::vector<Complex> full(n* n);                                                                                \
    for (int i = 0; i < n * n; i++) full[i] = a[i % n + i / n * ld];                                                \
    for (const cublasOperation_t op : ops)                                                                          \
      product_is<T>(#P "gemv", op_of(full, op), [&](const T* s, const T* in, const T* t, T* out) {                  \
        return cublas##P##gemv(h, op, n, n, s, a.device, ld, in, 1, t, out, 1);                                     \
      });                                                                                                           \
    T dot;                                                                                                          \
    Complex u = 0, v = 0;                                                                                           \
    double squares = 0, sum = 0;                                                                                    \
    Real length;                                                                                                    \
    int at, largest = 0;                                                                                            \
    for (int i = 0; i < n; i++) {                                                                                   \
      u += vx[i] * vy[i], v += std::conj(vx[i]) * vy[i], squares += std::norm(vx[i]);                               \
      sum += std::fabs(vx[i].real()) + std::fabs(vx[i].imag());                                                     \
      if (std::fabs(vx[i].real()) + std::fabs(vx[i].imag()) >                                                       \
          std::fabs(vx[largest].real()) + std::fabs(vx[largest].imag()))                                            \
        largest = i;                                                                                                \
    }                                                                                                               \
    CHECK(cublas##P##dotu(h, n, x.device, 1, y.device, 1, &dot));                                                   \
    near(value(dot), u, #P "dotu");                                                                                 \
    CHECK(cublas##P##dotc(h, n, x.device, 1, y.device, 1, &dot));                                                   \
    near(value(dot), v, #P "dotc");                                                                                 \
    CHECK(cublas##R##nrm2(h, n, x.device, 1, &length));                                                             \
    near(length, std::sqrt(squares), #R "nrm2");                                                                    \
    CHECK(cublas##R##asum(h, n, x.device, 1, &length));                                                             \
    near(length, sum, #R "asum");                                                                                   \
    CHECK(cublasDotcEx(h, n, x.device, sizeof(T) == 8 ? CUDA_C_32F : CUDA_C_64F, 1, y.device,                       \
                       sizeof(T) == 8 ? CUDA_C_32F : CUDA_C_64F, 1, &dot, sizeof(T) == 8 ? CUDA_C_32F : CUDA_C_64F, \
                       CUDA_C_64F));                                                                                \
    near(value(dot), v, #P "dotcEx");                                                                               \
    CHECK((sizeof(T) == 8 ? largest_of(h, (const cuComplex*)x.device, &at)                                          \
                          : largest_of(h, (const cuDoubleComplex*)x.device, &at)));                                 \
    near(at, largest + 1, "amax");                                                                                  \
    CHECK(cublas##P##axpy(h, n, &alpha, x.device, 1, y.device, 1));                                                 \
    y.down();                                                                                                       \
    for (int i = 0; i < n; i++) near(y[i], vy[i] + value(alpha) * vx[i], #P "axpy");                                \
    CHECK(cublas##P##copy(h, n, x.device, 1, y.device, -1));                                                        \
    CHECK(cublas##P##scal(h, n, &beta, y.device, 1));                                                               \
    y.down();                                                                                                       \
    for (int i = 0; i < n; i++) near(y[i], value(beta) * vx[n - 1 - i], #P "scal");                                 \
    {                                                                                                               \
      Array<T> g(ld* n, 7);                                                                                         \
      CHECK(cublas##P##gerc(h, n, n, &alpha, x.device, 1, x.device, 1, g.device, ld));                              \
      g.down();                                                                                                     \
      for (int i = 0; i < n * n; i++)                                                                               \
        near(g[i % n + i / n * ld], full[i] + value(alpha) * vx[i % n] * std::conj(vx[i / n]), #P "gerc");          \
    }                                                                                                               \
    for (const cublasOperation_t op : ops) {                                                                        \
      CHECK(cublas##P##gemmStridedBatched(h, op, CUBLAS_OP_N, n, n, n, &alpha, a.device, ld, 0, b.device, ld, 0,    \
                                          &beta, c.device, ld, 0, 1));                                              \
      c.down();                                                                                                     \
      const std::vector<Complex> left = op_of(full, op);                                                            \
      for (int i = 0; i < n * n; i++) {                                                                             \
        Complex product = 0;                                                                                        \
        for (int j = 0; j < n; j++) product += left[i % n + j * n] * b[j + i / n * ld];                             \
        near(c[i % n + i / n * ld], value(alpha) * product + value(beta) * c_before[i % n + i / n * ld],            \
             #P "gemmStridedBatched");                                                                              \
      }                                                                                                             \
      cudaMemcpy(c.device, c_before.host.data(), ld* n * sizeof(T), cudaMemcpyHostToDevice);                        \
      CHECK(cublas##P##geam(h, op, CUBLAS_OP_N, n, n, &alpha, a.device, ld, &beta, b.device, ld, c.device, ld));    \
      c.down();                                                                                                     \
      for (int i = 0; i < n * n; i++)                                                                               \
        near(c[i % n + i / n * ld], value(alpha) * left[i] + value(beta) * b[i % n + i / n * ld], #P "geam");       \
      cudaMemcpy(c.device, c_before.host.data(), ld* n * sizeof(T), cudaMemcpyHostToDevice);                        \
    }                                                                                                               \
  }
cublasStatus_t largest_of(cublasHandle_t h, const cuComplex* x, int* at) { return cublasIcamax(h, n, x, 1, at); }
cublasStatus_t largest_of(cublasHandle_t h, const cuDoubleComplex* x, int* at) {
  return cublasIzamax_v2(h, n, x, 1, at);
}

void halves(cublasHandle_t h) {
  Array<float> floats(n, 3);
  std::vector<__half> host(n);
  double sum = 0;
  for (int i = 0; i < n; i++) host[i] = __float2half(floats.host[i]), sum += std::pow(__half2float(host[i]), 2);
  __half *x, *y, result;
  cudaMalloc(&x, n * sizeof(__half)), cudaMalloc(&y, n * sizeof(__half));
  cudaMemcpy(x, host.data(), n * sizeof(__half), cudaMemcpyHostToDevice);
  cudaMemcpy(y, host.data(), n * sizeof(__half), cudaMemcpyHostToDevice);
  const float two = 2;
  CHECK(cublasDotEx(h, n, x, CUDA_R_16F, 1, y, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
  if (std::fabs(__half2float(result) - sum) > 2e-3 * sum)
    printf("cublasDotEx: %g, not %g\n", __half2float(result), sum), wrong++;
  CHECK(cublasScalEx(h, n, &two, CUDA_R_32F, x, CUDA_R_16F, 1, CUDA_R_32F));
  CHECK(cublasAxpyEx(h, n, &two, CUDA_R_32F, x, CUDA_R_16F, 1, y, CUDA_R_16F, 1, CUDA_R_32F));
  CHECK(cublasNrm2Ex(h, n, x, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
  if (std::fabs(__half2float(result) - 2 * std::sqrt(sum)) > 5e-3) printf("cublasNrm2Ex\n"), wrong++;
  std::vector<__half> after(n);
  cudaMemcpy(after.data(), y, n * sizeof(__half), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (std::fabs(__half2float(after[i]) - 5 * __half2float(host[i])) > 5e-3) printf("cublasAxpyEx\n"), wrong++;
}

// The modified rotation of (1, 2) and (3, 4), of each kind.
void modified(cublasHandle_t h) {
  for (int flag = -2; flag <= 1; flag++) {
    Array<double> x(2), y(2);
    x.host = {1, 2}, y.host = {3, 4};
    x.up(), y.up();
    const double param[5] = {double(flag), 2, 3, 5, 7};
    CHECK(cublasDrotm(h, 2, x.device, 1, y.device, 1, param));
    x.down(), y.down();
    const double h11[] = {1, 2, 1, 2}, h21[] = {0, 3, 3, -1}, h12[] = {0, 5, 5, 1}, h22[] = {1, 7, 1, 7};
    near(x[1], h11[flag + 2] * 2 + h12[flag + 2] * 4, "rotm"),
        near(y[1], h21[flag + 2] * 2 + h22[flag + 2] * 4, "rotm");
  }
}

int main() {
  cublasHandle_t h;
  CHECK(cublasCreate(&h));
  ALL(S, float, float)
  ALL(Z, cuDoubleComplex, double)
  COMPLEX(C, Sc, cuComplex, float)
  COMPLEX(Z, Dz, cuDoubleComplex, double)
  halves(h);
  modified(h);
  CHECK(cublasDestroy(h));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
