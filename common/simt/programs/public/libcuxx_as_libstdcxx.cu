// libcu++ in a kernel and the C++ library on the host: the same text, once with each, gives the same numbers.
#include <cuda/std/algorithm>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/cstdlib>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/numeric>
#include <cuda/std/utility>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

constexpr int n = 24, results = 400;

struct Point {
  int x, y;
  __host__ __device__ int sum(int more) const { return x + y + more; }
};
struct IsEven {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};
struct Below10 {
  __host__ __device__ bool operator()(int v) const { return v < 10; }
};
struct Counter {
  int next;
  __host__ __device__ int operator()() { return next += 3; }
};
struct Sum {
  int* all;
  __host__ __device__ void operator()(int v) const { *all += v; }
};

// Writes to `out` what the functions of a namespace give for 24 items.
#define USE(STD)                                                                                                       \
  int* const begin = out;                                                                                              \
  int a[n], b[n], c[2 * n];                                                                                            \
  const auto put = [&](int v) { *out++ = v; };                                                                         \
  const auto show = [&](const int* first, const int* last) {                                                           \
    int hash = 17;                                                                                                     \
    for (; first != last; ++first) hash = hash * 31 % 65521 + *first;                                                  \
    put(hash);                                                                                                         \
  };                                                                                                                   \
  const auto fresh = [&] {                                                                                             \
    for (int i = 0; i < n; i++) a[i] = x[i], b[i] = x[(i * 7) % n];                                                    \
    for (int i = 0; i < 2 * n; i++) c[i] = -1;                                                                         \
  };                                                                                                                   \
  fresh();                                                                                                             \
  put(STD::all_of(a, a + n, Below10())), put(STD::any_of(a, a + n, Below10())), put(STD::none_of(a, a, IsEven()));     \
  put(STD::count(a, a + n, 4)), put(STD::count_if(a, a + n, IsEven())), put(STD::find_if_not(a, a + n, IsEven()) - a); \
  put(STD::adjacent_find(a, a + n) - a), put(STD::adjacent_find(a, a + n, STD::greater<int>()) - a);                   \
  put(STD::mismatch(a, a + n, b).first - a), put(STD::equal(a, a + n, b, STD::less<int>()));                           \
  put(STD::lexicographical_compare(a, a + n, b, b + n)), put(STD::lexicographical_compare(a, a + 3, a, a + 9));        \
  put(STD::search(a, a + n, a + 9, a + 12) - a), put(STD::search(a, a + n, b, b + n) - a);                             \
  put(STD::minmax_element(a, a + n).first - a), put(STD::minmax_element(a, a + n).second - a);                         \
  put(STD::minmax(7, 3).first + 10 * STD::minmax(7, 3).second), put(STD::min({5, 2, 9}) + 10 * STD::max({5, 2, 9}));   \
  show(c, STD::copy_if(a, a + n, c, IsEven())), show(c, STD::copy_n(a, 5, c)),                                         \
      show(c, STD::reverse_copy(a, a + n, c));                                                                         \
  show(c, STD::transform(a, a + n, b, c, STD::multiplies<int>())), show(c, STD::copy_backward(a, a + n, c + 2 * n));   \
  STD::copy_backward(a, a + n, c + 2 * n), show(c + n, c + 2 * n), show(c, STD::move(a, a + n, c));                    \
  show(c, STD::fill_n(c, 7, 3)), show(c, STD::generate_n(c, 6, Counter{1})), STD::generate(c, c + n, Counter{5});      \
  show(c, c + n);                                                                                                      \
  int all = 0;                                                                                                         \
  STD::for_each_n(a, 9, Sum{&all}), put(all);                                                                          \
  STD::replace(a, a + n, 4, 40), STD::replace_if(a, a + n, Below10(), 1), show(a, a + n), fresh();                     \
  STD::iter_swap(a, a + 3), STD::swap_ranges(a, a + 5, b), show(a, a + n), show(b, b + n), fresh();                    \
  put(STD::rotate(a, a + 7, a + n) - a), show(a, a + n), put(STD::rotate(a, a + n, a + n) - a), fresh();               \
  show(a, STD::remove_if(a, a + n, IsEven())), fresh(), show(a, STD::remove(a, a + n, 4)), fresh();                    \
  STD::make_heap(a, a + n), put(a[0]), STD::sort_heap(a, a + n), show(a, a + n), put(STD::is_sorted(a, a + n));        \
  show(a, STD::unique(a, a + n)), fresh(), put(STD::is_sorted_until(a, a + n) - a), put(STD::is_sorted(a, a + n));     \
  put(STD::partition(a, a + n, IsEven()) - a), put(STD::all_of(a, STD::find_if_not(a, a + n, IsEven()), IsEven()));    \
  fresh(), STD::partial_sort(a, a + 9, a + n), show(a, a + 9), fresh();                                                \
  STD::partial_sort(a, a + 9, a + n, STD::greater<int>()), show(a, a + 9), fresh();                                    \
  STD::make_heap(a, a + n - 1), STD::push_heap(a, a + n), put(a[0]), STD::pop_heap(a, a + n), put(a[n - 1]);           \
  fresh(), STD::make_heap(a, a + n), STD::sort_heap(a, a + n), STD::make_heap(b, b + 12), STD::sort_heap(b, b + 12);   \
  put(STD::binary_search(a, a + n, 4)), put(STD::binary_search(a, a + n, 1000));                                       \
  put(STD::equal_range(a, a + n, 4).second - STD::equal_range(a, a + n, 4).first);                                     \
  show(c, STD::merge(a, a + n, b, b + 12, c)), show(c, STD::set_union(a, a + n, b, b + 12, c));                        \
  show(c, STD::set_intersection(a, a + n, b, b + 12, c)), show(c, STD::set_difference(a, a + n, b, b + 12, c));        \
  put(STD::reduce(a, a + n)), put(STD::reduce(a, a + n, 5)), put(STD::reduce(a, a + n, 0, STD::bit_xor<int>()));       \
  put(STD::transform_reduce(a, a + n, b, 0)),                                                                          \
      put(STD::transform_reduce(a, a + n, 0, STD::plus<int>(), STD::negate<int>()));                                   \
  put(STD::inner_product(a, a + n, b, 1, STD::plus<int>(), STD::minus<int>()));                                        \
  show(c, STD::partial_sum(a, a + n, c)), show(c, STD::inclusive_scan(a, a + n, c));                                   \
  show(c, STD::exclusive_scan(a, a + n, c, 3)), show(c, STD::adjacent_difference(a, a + n, c));                        \
  put(STD::gcd(84, -36)), put(STD::lcm(4, 6)), put(STD::gcd(0, 5));                                                    \
  put(STD::invoke(&Point::sum, Point{1, 2}, 3)), put(STD::invoke(&Point::x, Point{8, 2}));                             \
  put(STD::not_fn(IsEven())(3)), put(STD::bit_not<int>()(5)), STD::ref(all).get() = 77, put(all);                      \
  put(STD::cref(all) + 1), put(*STD::rbegin(a)), put(STD::make_reverse_iterator(a + 3)[1]);                            \
  put(STD::accumulate(STD::rbegin(b), STD::rend(b), 0)), put(*STD::cbegin(a) + *(STD::cend(a) - 1));                   \
  put(STD::as_const(a[3])), put(STD::make_pair(1, 2) != STD::make_pair(1, 3)),                                         \
      put(STD::make_pair(2, 1) >= STD::make_pair(1, 3));                                                               \
  put(STD::div(17, -5).quot), put(STD::div(17, -5).rem), put(STD::copysign(3.0f, -1.0f)), put(STD::lround(2.5));       \
  put(STD::remainder(7.0, 4.0)), put(STD::ldexp(3.0, 4)), put(STD::isnormal(1e-310)), put(STD::ilogb(9.0));            \
  return static_cast<int>(out - begin)

__device__ int of_a_kernel(const int* x, int* out) { USE(cuda::std); }
int of_the_host(const int* x, int* out) { USE(std); }

__global__ void use(const int* x, int* out, int* written, bool* bits) {
  *written = of_a_kernel(x, out);
  namespace cs = cuda::std;  // C++20's and later, which the host's library need not have
  *bits = cs::rotl(0x80000001u, 4) == 0x18u && cs::rotr(static_cast<unsigned char>(3), 1) == 0x81 &&
          cs::countl_one(0xFFF00000u) == 12 && cs::countr_one(7u) == 3 && cs::byteswap(0x01020304) == 0x04030201 &&
          cs::endian::native == cs::endian::little && cs::cmp_less(-1, 0u) && !cs::cmp_equal(-1, ~0u) &&
          cs::cmp_greater(1u, -1) && !cs::in_range<unsigned char>(256) && cs::in_range<signed char>(-128) &&
          cs::midpoint(2147483647, 2147483645) == 2147483646 && cs::midpoint(-3, 4) == 0 && cs::midpoint(4, -3) == 1;
}

int main() {
  int *x, *out, *written;
  bool* bits;
  cudaMallocManaged(&x, n * sizeof(int));
  cudaMallocManaged(&out, results * sizeof(int));
  cudaMallocManaged(&written, sizeof(int));
  cudaMallocManaged(&bits, sizeof(bool));
  for (int i = 0; i < n; i++) x[i] = (i * 13 + 4) % 31;
  x[11] = x[12], x[20] = 4;
  use<<<1, 1>>>(x, out, written, bits);
  const cudaError_t error = cudaDeviceSynchronize();
  int right[results], wrong = error != cudaSuccess || !*bits;
  const int count = of_the_host(x, right);
  if (*written != count || count > results) wrong++;
  for (int i = 0; i < count; i++)
    if (out[i] != right[i]) std::printf("%d: %d, not %d\n", i, out[i], right[i]), wrong++;
  std::printf(wrong ? "FAIL\n" : "PASS\n");
  return wrong;
}
