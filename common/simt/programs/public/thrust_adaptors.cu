// Iterators that a program makes of Thrust's, the engines of random numbers, and algorithms beside the common ones.
#include <thrust/copy.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/find.h>
#include <thrust/generate.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/iterator_adaptor.h>
#include <thrust/iterator/iterator_facade.h>
#include <thrust/iterator/transform_input_output_iterator.h>
#include <thrust/memory.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/transform.h>

#include <cstdio>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

using Ints = thrust::device_vector<int>;

// Each item so many times.
class Repeated : public thrust::iterator_adaptor<Repeated, Ints::iterator> {
 public:
  using super_t = thrust::iterator_adaptor<Repeated, Ints::iterator>;
  __host__ __device__ Repeated(const Ints::iterator& at, unsigned times) : super_t(at), first(at), times(times) {}
  friend class thrust::iterator_core_access;

 private:
  const Ints::iterator first;
  unsigned times;
  __host__ __device__ super_t::reference dereference() const { return *(first + (this->base() - first) / times); }
};

// The odd numbers.
class Odd : public thrust::iterator_facade<Odd, int, thrust::any_system_tag, thrust::random_access_traversal_tag, int> {
 public:
  __host__ __device__ explicit Odd(int at) : at(at) {}

 private:
  friend class thrust::iterator_core_access;
  int at;
  __host__ __device__ int dereference() const { return 2 * at + 1; }
  __host__ __device__ void increment() { at++; }
  __host__ __device__ void decrement() { at--; }
  __host__ __device__ void advance(std::ptrdiff_t n) { at += static_cast<int>(n); }
  __host__ __device__ bool equal(const Odd& other) const { return at == other.at; }
  __host__ __device__ std::ptrdiff_t distance_to(const Odd& other) const { return other.at - at; }
};

struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Twice {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};
struct Eight {
  __host__ __device__ int operator()() const { return 8; }
};
struct Halved {
  __host__ __device__ int operator()(int x) const { return x / 2; }
};

__global__ void in_thread(int* items, int* sum) {
  thrust::swap(items[0], items[3]);
  const thrust::pair<int, int> pair = thrust::make_pair(items[0], items[1]);
  const thrust::device_ptr<int> third(items + 2);
  *sum = pair.first * 10 + pair.second + *third;
}

static void engines() {
  thrust::taus88 taus;
  taus.discard(9999);
  EXPECT(taus() == 3535848941u);
  thrust::ranlux24 ranlux24;
  ranlux24.discard(9999);
  EXPECT(ranlux24() == 9901578u);
  thrust::ranlux48 ranlux48;
  ranlux48.discard(9999);
  EXPECT(ranlux48() == 88229545517833ull);
  thrust::uniform_real_distribution<float> uniform(2, 3);
  const float x = uniform(taus);
  EXPECT(x >= 2 && x < 3);
}

static void algorithms() {
  const int n = 10;
  Ints items(n), to(n, -1), more(n, -1);
  thrust::sequence(items.begin(), items.end());
  EXPECT(!thrust::is_partitioned(items.begin(), items.end(), IsEven()));
  Ints parted = items;
  thrust::stable_partition(parted.begin(), parted.end(), IsEven());
  EXPECT(thrust::is_partitioned(parted.begin(), parted.end(), IsEven()));
  EXPECT(thrust::partition_point(parted.begin(), parted.end(), IsEven()) - parted.begin() == n / 2);
  EXPECT(thrust::find_if_not(items.begin(), items.end(), IsEven()) - items.begin() == 1);
  EXPECT(thrust::remove_copy_if(items.begin(), items.end(), to.begin(), IsEven()) - to.begin() == n / 2 && to[1] == 3);
  EXPECT(thrust::remove_copy(items.begin(), items.end(), to.begin(), 4) - to.begin() == n - 1 && to[4] == 5);
  const auto ends =
      thrust::partition_copy(items.begin(), items.end(), parted.begin(), to.begin(), more.begin(), IsEven());
  EXPECT(ends.first - to.begin() == 5 && ends.second - more.begin() == 5 && to[1] == 1 && more[1] == 6);
  thrust::replace_copy_if(items.begin(), items.end(), to.begin(), IsEven(), -2);
  EXPECT(to[4] == -2 && to[5] == 5);
  thrust::replace_copy(items.begin(), items.end(), to.begin(), 3, 33);
  EXPECT(to[3] == 33 && to[4] == 4);
  thrust::replace_if(to.begin(), to.end(), items.begin(), IsEven(), 0);
  EXPECT(to[3] == 33 && to[4] == 0);
  EXPECT(thrust::generate_n(more.begin(), 2, Eight()) - more.begin() == 2 && more[1] == 8 && more[2] == 7);
  thrust::transform_if(items.begin(), items.end(), items.begin(), items.begin(), to.begin(), thrust::plus<int>(),
                       IsEven());
  EXPECT(to[4] == 8 && to[5] == 5);
  more[3] = -5;
  EXPECT(thrust::is_sorted_until(items.begin(), items.end(), thrust::greater<int>()) - items.begin() == 1);
  const auto raw = thrust::malloc<int>(thrust::device_system_tag(), 4);
  thrust::copy(items.begin(), items.begin() + 4, raw);
  EXPECT(raw[3] == 3);
  Ints sum(1);
  in_thread<<<1, 1>>>(raw.get(), thrust::raw_pointer_cast(sum.data()));
  EXPECT(raw[0] == 3 && sum[0] == 30 + 1 + 2);
  thrust::free(thrust::device_system_tag(), raw);
}

int main() {
  Ints items(5), copies(15), sums(5);
  thrust::sequence(items.begin(), items.end(), 10);
  const Repeated repeated(items.begin(), 3);
  thrust::copy(repeated, repeated + 15, copies.begin());
  for (int i = 0; i < 15; i++) EXPECT(copies[i] == 10 + i / 3);
  EXPECT(thrust::reduce(repeated, repeated + 15) == 3 * (10 + 11 + 12 + 13 + 14));
  const Odd odd(0);
  EXPECT((odd + 5) - odd == 5 && odd[4] == 9 && odd < odd + 1);
  thrust::transform(odd, odd + 5, items.begin(), sums.begin(), thrust::plus<int>());
  for (int i = 0; i < 5; i++) EXPECT(sums[i] == 2 * i + 1 + 10 + i);
  const auto both = thrust::make_transform_input_output_iterator(items.begin(), Twice(), Halved());
  EXPECT(both[1] == 22);
  thrust::copy(odd, odd + 5, both);
  EXPECT(items[4] == 4);
  engines();
  algorithms();
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
