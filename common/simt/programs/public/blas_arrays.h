// Arrays of the host and the device, of cuBLAS's four types, for blas_complex.cu and blas_packed.cu.
#pragma once

#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

using Complex = std::complex<double>;

#define CHECK(call)                                                                                                 \
  do {                                                                                                              \
    const cublasStatus_t status = (call);                                                                           \
    if (status != CUBLAS_STATUS_SUCCESS) printf("line %d: %s\n", __LINE__, cublasGetStatusString(status)), wrong++; \
  } while (0)

int wrong = 0;

Complex value(float x) { return x; }
Complex value(double x) { return x; }
Complex value(cuComplex x) { return {x.x, x.y}; }
Complex value(cuDoubleComplex x) { return {x.x, x.y}; }
template <typename T>
struct Make {
  static constexpr bool is_complex = false;
  static T of(Complex x) { return T(x.real()); }
};
template <>
struct Make<cuComplex> {
  static constexpr bool is_complex = true;
  static cuComplex of(Complex x) { return make_cuComplex(float(x.real()), float(x.imag())); }
};
template <>
struct Make<cuDoubleComplex> {
  static constexpr bool is_complex = true;
  static cuDoubleComplex of(Complex x) { return make_cuDoubleComplex(x.real(), x.imag()); }
};

void near(Complex found, Complex right, const char* what) {
  if (!(std::abs(found - right) <= 2e-4 * (1 + std::abs(right))))
    printf("%s: %g + %g i, not %g + %g i\n", what, found.real(), found.imag(), right.real(), right.imag()), wrong++;
}

// A matrix or a vector of the host and of the device.
template <typename T>
struct Array {
  std::vector<T> host;
  T* device = nullptr;
  explicit Array(int n, int seed = 0) : host(n) {
    for (int i = 0; i < n; i++)
      host[i] = Make<T>::of(seed ? Complex(std::sin(double(i) * i * 1.7 + seed),
                                           Make<T>::is_complex ? std::cos(double(i) * i * 2.3 + seed) : 0)
                                 : 0);
    cudaMalloc(&device, (n ? n : 1) * sizeof(T));
    up();
  }
  ~Array() { cudaFree(device); }
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  void down() { cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost); }
  Complex operator[](int i) const { return value(host[i]); }
};
Complex conj_if(bool conjugated, Complex x) { return conjugated ? std::conj(x) : x; }

const int n = 6, ld = 8, k = 2;
const cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

std::vector<Complex> op_of(const std::vector<Complex>& a, cublasOperation_t op) {
  std::vector<Complex> result(n * n);
  for (int c = 0; c < n; c++)
    for (int r = 0; r < n; r++)
      result[r + c * n] = op == CUBLAS_OP_N ? a[r + c * n] : conj_if(op == CUBLAS_OP_C, a[c + r * n]);
  return result;
}

template <typename T, typename Multiply>
void product_is(const char* what, const std::vector<Complex>& a, const Multiply& call) {
  Array<T> x(n, 3), y(n, 5);
  const Array<T> before(n, 5);
  const T alpha = Make<T>::of({1.5, 0.5}), beta = Make<T>::of({0.5, -1});
  CHECK(call(&alpha, x.device, &beta, y.device));
  y.down();
  for (int r = 0; r < n; r++) {
    Complex sum = 0;
    for (int c = 0; c < n; c++) sum += a[r + c * n] * x[c];
    near(y[r], value(alpha) * sum + value(beta) * before[r], what);
  }
}
template <typename T>
std::vector<Complex> values(const Array<T>& a) {
  std::vector<Complex> all;
  for (const T& one : a.host) all.push_back(value(one));
  return all;
}
