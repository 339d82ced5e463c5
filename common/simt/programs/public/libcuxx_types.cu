// Types of libcu++ in kernels: optional, tuple, span, complex numbers, bits; and sizes that are rounded up.
#include <cuda/cmath>
#include <cuda/std/bit>
#include <cuda/std/cassert>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>

#include <cstdio>
#include <nvfunctional>

__device__ cuda::std::optional<int> place_of(cuda::std::span<const int> values, int value) {
  for (size_t i = 0; i < values.size(); i++)
    if (values[i] == value) return static_cast<int>(i);
  return cuda::std::nullopt;
}

__host__ __device__ cuda::std::tuple<int, float> half_of(int i) { return cuda::std::make_tuple(i, i * 0.5f); }

struct Apart {
  __device__ ~Apart() {}
  int value = 3;
};

__global__ void use(const int* in, int count, float* out) {
  const cuda::std::span<const int> values(in, count);
  const auto place = place_of(values, 5);
  out[0] = place ? static_cast<float>(*place) : -1;
  out[1] = place_of(values, 999).value_or(-7);
  auto [whole, half] = half_of(3);
  out[2] = whole + half;
  const cuda::std::complex<float> z(1, 2), w(3, -1), product = z * w;
  out[3] = product.real();
  out[4] = cuda::std::imag(product);
  out[5] = cuda::std::abs(cuda::std::complex<float>(3, 4));
  int x = 0;
  float y = 0;
  cuda::std::tie(x, y) = half_of(9);
  cuda::std::tie(x, cuda::std::ignore) = half_of(x + 1);
  out[6] = x + y;
  float most = 0;
  for (const int value : values.first(3)) most = fmaxf(most, value);
  out[7] = most;
  out[8] = cuda::std::popcount(255u) + cuda::std::get<1>(half_of(4)) + cuda::std::get<int>(half_of(1));
  out[9] = values.subspan(2, 2).size() * 10 + values.subspan(2).front();
  out[10] = cuda::std::bit_cast<float>(0x40000000) + cuda::std::countl_zero(1u) + cuda::std::bit_ceil(5u);
  __shared__ int shared[4];
  cuda::std::span<int, 4> four(shared);
  for (size_t i = 0; i < four.size(); i++) four[i] = static_cast<int>(i);
  out[11] = cuda::std::apply([](int a, float b) { return a + b; }, half_of(four.back()));
  cuda::std::optional<Apart> apart;
  apart.emplace();
  out[12] = apart->value + (half_of(1) < half_of(2)) + (half_of(1) == half_of(1));
  nvstd::function<int(int)> add = [place](int a) { return a + *place; }, none;
  const nvstd::function<int(int)> same = add;
  none = add;
  add = nullptr;
  assert(!add && none && same(4) == 4 + *place && none(5) == 5 + *place);
  cuda::std::optional<int> nothing = place;
  nothing.reset();
  assert(nothing == cuda::std::nullopt && nothing != place);
}

int main() {
  constexpr int count = 8, results = 13;
  const int primes[count] = {2, 3, 5, 7, 11, 13, 17, 19};
  const float wanted[results] = {2, -7, 4.5f, 5, 5, 5, 14.5f, 5, 11, 25, 2 + 31 + 8, 4.5f, 5};
  static_assert(cuda::ceil_div(10, 4) == 3 && cuda::round_up(10, 4) == 12 && cuda::round_down(10, 4) == 8);
  int* in;
  float *out, found[results];
  cudaMalloc(&in, sizeof primes);
  cudaMalloc(&out, sizeof found);
  cudaMemcpy(in, primes, sizeof primes, cudaMemcpyHostToDevice);
  use<<<1, 1>>>(in, count, out);
  cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
  for (int i = 0; i < results; i++) {
    if (found[i] != wanted[i]) {
      std::printf("FAIL: %d: %g, not %g\n", i, found[i], wanted[i]);
      return 1;
    }
  }
  cudaFree(in);
  cudaFree(out);
  std::puts(cuda::std::get<0>(half_of(7)) == 7 ? "PASS" : "FAIL");
}
