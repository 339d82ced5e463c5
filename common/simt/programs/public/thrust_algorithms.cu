// Thrust as programs use it: vectors, algorithms on them, on raw pointers and on made-up iterators, held against the
// standard library's.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr int count = 1003;

int wrong = 0;
void expect(bool is, const char* what) {
  if (!is) printf("%s is wrong\n", what), wrong++;
}
template <typename T>
std::vector<T> on_host(const thrust::device_vector<T>& values) {
  std::vector<T> host(values.size());
  thrust::copy(values.begin(), values.end(), host.begin());
  return host;
}

struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct IsEven : thrust::unary_function<int, bool> {  // as before CUDA 13
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};
struct Distance {
  __host__ __device__ float operator()(const thrust::tuple<float, float>& p) const {
    return thrust::get<0>(p) * thrust::get<0>(p) + thrust::get<1>(p) * thrust::get<1>(p);
  }
};
struct Doubles {  // through a pointer, by a number
  int* out;
  __device__ void operator()(int i) { out[i] = 2 * i; }
};

__global__ void add_one(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i]++;
}

int main() {
  thrust::host_vector<int> h(count);
  for (int i = 0; i < count; i++) h[i] = int(i * 7919ll % 509) - 200;
  const std::vector<int> in(h.begin(), h.end());
  thrust::device_vector<int> d = h;

  std::vector<int> wanted = in;
  std::sort(wanted.begin(), wanted.end());
  thrust::device_vector<int> sorted = d;
  thrust::sort(sorted.begin(), sorted.end());
  expect(on_host(sorted) == wanted, "sort");
  thrust::sort(thrust::device, thrust::raw_pointer_cast(sorted.data()), thrust::raw_pointer_cast(sorted.data()) + count,
               thrust::greater<int>());
  std::reverse(wanted.begin(), wanted.end());
  expect(on_host(sorted) == wanted, "sort of raw pointers");

  thrust::device_vector<int> places(count);
  thrust::sequence(places.begin(), places.end());
  thrust::device_vector<int> keys = d;
  thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin());
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] < in[b]; });
  expect(on_host(places) == order, "sort_by_key");

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  expect(thrust::reduce(d.begin(), d.end()) == sum, "reduce");
  expect(thrust::reduce(thrust::cuda::par.on(stream), d.begin(), d.end(), -1000, thrust::maximum<int>()) ==
             *std::max_element(in.begin(), in.end()),
         "reduce by maximum");
  expect(thrust::reduce(thrust::host, h.begin(), h.end(), 5) == sum + 5, "reduce on the host");
  long long squares = 0;
  for (int x : in) squares += static_cast<long long>(x) * x;
  expect(thrust::transform_reduce(d.begin(), d.end(), Square(), 0ll, thrust::plus<long long>()) == squares,
         "transform_reduce");
  expect(thrust::inner_product(d.begin(), d.end(), d.begin(), 0ll) == squares, "inner_product");
  expect(thrust::max_element(d.begin(), d.end()) - d.begin() == std::max_element(in.begin(), in.end()) - in.begin(),
         "max_element");
  expect(*thrust::min_element(d.begin(), d.end()) == *std::min_element(in.begin(), in.end()), "min_element");
  expect(thrust::count_if(d.begin(), d.end(), IsEven()) == std::count_if(in.begin(), in.end(), IsEven()), "count_if");
  expect(thrust::count(d.begin(), d.end(), in[3]) == std::count(in.begin(), in.end(), in[3]), "count");

  std::vector<int> scanned(count);
  thrust::device_vector<int> scan(count);
  thrust::inclusive_scan(d.begin(), d.end(), scan.begin());
  std::partial_sum(in.begin(), in.end(), scanned.begin());
  expect(on_host(scan) == scanned, "inclusive_scan");
  scan = d;
  thrust::exclusive_scan(scan.begin(), scan.end(), scan.begin(), 10);
  for (int i = 0, before = 10; i < count; i++) scanned[i] = before, before += in[i];
  expect(on_host(scan) == scanned, "exclusive_scan in place");

  thrust::device_vector<float> x(count), y(count, 3.0f), z(count);
  thrust::sequence(x.begin(), x.end(), 1.0f, 0.5f);
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), Saxpy{2.0f});
  const std::vector<float> saxpy = on_host(z);
  for (int i = 0; i < count; i++) expect(saxpy[i] == 2.0f * (1.0f + 0.5f * float(i)) + 3.0f, "transform");
  thrust::fill(y.begin(), y.end(), 4.0f);
  const auto points = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  thrust::transform(points, points + count, z.begin(), Distance());
  expect(z[7] == 4.5f * 4.5f + 16.0f, "transform of a zip");
  const float farthest = thrust::transform_reduce(points, points + count, Distance(), 0.0f, thrust::maximum<float>());
  expect(farthest == 502.0f * 502.0f + 16.0f, "transform_reduce of a zip");
  const auto squared = thrust::make_transform_iterator(d.begin(), Square());
  expect(thrust::reduce(squared, squared + count) == squares, "reduce of a transform_iterator");
  thrust::for_each(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(count),
                   Doubles{thrust::raw_pointer_cast(places.data())});
  add_one<<<(count + 255) / 256, 256>>>(thrust::raw_pointer_cast(places.data()), count);
  expect(places[500] == 1001 && places.back() == 2 * count - 1, "for_each");

  thrust::device_vector<int> some(count);
  some.erase(thrust::copy_if(d.begin(), d.end(), some.begin(), IsEven()), some.end());
  std::vector<int> evens;
  std::copy_if(in.begin(), in.end(), std::back_inserter(evens), IsEven());
  expect(on_host(some) == evens, "copy_if");
  some = d;
  some.resize(thrust::remove_if(some.begin(), some.end(), IsEven()) - some.begin());
  std::vector<int> odds;
  std::remove_copy_if(in.begin(), in.end(), std::back_inserter(odds), IsEven());
  expect(on_host(some) == odds, "remove_if");

  // A histogram: sorted keys, then the length of each run.
  thrust::device_vector<int> bins(count), lengths(count);
  const auto ends =
      thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1), bins.begin(), lengths.begin());
  keys.erase(thrust::unique(keys.begin(), keys.end()), keys.end());
  bins.resize(ends.first - bins.begin());
  lengths.resize(ends.second - lengths.begin());
  expect(bins == keys && thrust::reduce(lengths.begin(), lengths.end()) == count, "reduce_by_key");
  for (size_t i = 0; i < bins.size(); i++)
    expect(lengths[i] == std::count(in.begin(), in.end(), static_cast<int>(bins[i])), "a length of reduce_by_key");

  // Memory that is not Thrust's own.
  int* raw;
  cudaMalloc(&raw, count * sizeof(int));
  thrust::device_ptr<int> mine(raw);
  thrust::copy(h.begin(), h.end(), mine);
  mine[2] = 77;
  d.push_back(5);
  thrust::copy_n(mine, 3, d.begin());
  thrust::host_vector<int> back = d;
  expect(back.size() == count + 1 && back[0] == in[0] && back[2] == 77 && back[count] == 5, "copy");
  thrust::sort(h.begin(), h.end());
  expect(std::is_sorted(h.begin(), h.end()), "sort on the host");
  cudaFree(raw);
  expect(cudaDeviceSynchronize() == cudaSuccess, "the end");
  puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
