// cuda::std::variant in kernels: visits of one and of two, other alternatives, and alternatives that have something to
// do when they go.
#include <cuda/std/concepts>
#include <cuda/std/cstdlib>
#include <cuda/std/numbers>
#include <cuda/std/ratio>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/variant>
#include <cuda/std/version>
#include <cstdio>
namespace cs = cuda::std;
struct Counted {
  int* n;
  __host__ __device__ explicit Counted(int* n) : n(n) { ++*n; }
  __host__ __device__ Counted(const Counted& other) : n(other.n) { ++*n; }
  __host__ __device__ ~Counted() { --*n; }
};
struct Circle {
  float r;
};
struct Square {
  float side;
};
using Shape = cs::variant<cs::monostate, Circle, Square, double>;
struct Area {
  __device__ float operator()(cs::monostate) const { return 0; }
  __device__ float operator()(const Circle& c) const { return cs::numbers::pi_v<float> * c.r * c.r; }
  __device__ float operator()(const Square& s) const { return s.side * s.side; }
  __device__ float operator()(double d) const { return static_cast<float>(d); }
};
template <class... F>
struct overload : F... {
  using F::operator()...;
};
template <class... F>
overload(F...) -> overload<F...>;
__global__ void areas(const Shape* shapes, float* out) {
  const Shape& mine = shapes[threadIdx.x];
  out[threadIdx.x] = cs::visit(Area(), mine);
  Shape other = mine;
  if (auto* c = cs::get_if<Circle>(&other)) c->r += 1;
  if (cs::holds_alternative<double>(other)) other = Square{2};
  out[4 + threadIdx.x] = cs::visit(Area(), other) + other.index();
  out[8 + threadIdx.x] =
      cs::visit(overload{[](const Circle&, const Square&) { return 1; }, [](const auto&, const auto&) { return 2; }},
                shapes[1], mine);
}
__global__ void lives(int* n, int* out) {
  {
    cs::variant<int, Counted> v(cs::in_place_type<Counted>, n);
    cs::variant<int, Counted> w = v;
    out[0] = *n;
    v = 3;
    out[1] = *n + 10 * cs::get<int>(v);
    w.emplace<1>(n);
    out[2] = *n;
  }
  out[3] = *n;
  auto [q, r] = cs::div(17, 5);
  const auto [tens, ones] = cs::make_tuple(q, r);
  out[4] = 10 * tens + ones;
  static_assert(cs::is_same_v<cs::remove_cvref_t<const int&>, int> && cs::is_nothrow_move_constructible_v<int> &&
                    cs::ratio_less<cs::milli, cs::ratio<1, 10>>::value,
                "");
  static_assert(cs::is_same<cs::type_identity_t<int>, cs::variant_alternative_t<0, cs::variant<int, float>>>::value &&
                    cs::variant_size_v<Shape> == 4,
                "");
}
int main() {
  Shape* s;
  float* f;
  int* n;
  cudaMallocManaged(&s, 4 * sizeof(Shape));
  cudaMallocManaged(&f, 12 * sizeof(float));
  cudaMallocManaged(&n, 8 * sizeof(int));
  new (s) Shape;
  new (s + 1) Shape(Circle{1});
  new (s + 2) Shape(Square{3});
  new (s + 3) Shape(2.5);
  n[0] = 0;
  areas<<<1, 4>>>(s, f);
  lives<<<1, 1>>>(n, n + 1);
  const cudaError_t error = cudaDeviceSynchronize();
  const float pi = 3.14159265f, right[12] = {0, pi, 9, 2.5f, 0, 4 * pi + 1, 11, 6, 2, 2, 1, 2};
  const int counts[5] = {2, 31, 1, 0, 32};
  int wrong = error != cudaSuccess;
  for (int i = 0; i < 12; i++)
    if (f[i] != right[i]) std::printf("area %d: %g, not %g\n", i, f[i], right[i]), wrong++;
  for (int i = 0; i < 5; i++)
    if (n[i + 1] != counts[i]) std::printf("count %d: %d, not %d\n", i, n[i + 1], counts[i]), wrong++;
  std::printf(wrong ? "FAIL\n" : "PASS\n");
  return wrong;
}
