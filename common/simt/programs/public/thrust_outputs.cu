// Thrust's iterators that hand on what is written to them, and errors as thrust::system_error.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/system/cuda/error.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

struct Half {
  __host__ __device__ float operator()(int x) const { return x * 0.5f; }
};
struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct ToReversed {
  int *to, count;
  __host__ __device__ void operator()(long i, int value) const { to[count - 1 - i] = value; }
};

static void check(cudaError_t error) {
  if (error != cudaSuccess) throw thrust::system_error(error, thrust::cuda_category(), "the call");
}

int main() {
  const int n = 100;
  const thrust::counting_iterator<int> numbers(0);
  thrust::device_vector<float> halves(n);
  const auto into = thrust::make_transform_output_iterator(halves.begin(), Half());
  const auto end = thrust::transform(numbers, numbers + n, into, Square());
  EXPECT(end - into == n);
  thrust::device_vector<float> sums(n);
  thrust::inclusive_scan(numbers, numbers + n, thrust::make_transform_output_iterator(sums.begin(), Half()));
  thrust::device_vector<int> reversed(n);
  thrust::copy(numbers, numbers + n,
               thrust::make_tabulate_output_iterator(ToReversed{thrust::raw_pointer_cast(reversed.data()), n}));
  thrust::device_vector<int> keys(n), values(n, 1), keys_out(n);
  thrust::device_vector<float> counts(n);
  for (int i = 0; i < n; i++) keys[i] = i / 7;
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), keys_out.begin(),
                                          thrust::make_transform_output_iterator(counts.begin(), Half()));
  EXPECT(ends.first - keys_out.begin() == 15);
  for (int i = 0; i < n; i++) {
    EXPECT(halves[i] == i * i * 0.5f);
    EXPECT(sums[i] == i * (i + 1) / 2 * 0.5f);
    EXPECT(reversed[i] == n - 1 - i);
    if (i < 15) EXPECT(counts[i] == (i < 14 ? 3.5f : 1));
  }
  try {
    check(cudaErrorInvalidValue);
    EXPECT(false);
  } catch (const thrust::system_error& error) {
    EXPECT(error.code().value() == cudaErrorInvalidValue && error.code().category() == thrust::cuda_category());
    EXPECT(std::strcmp(error.what(), "the call: invalid argument") == 0);
  }
  if (!wrong) std::printf("PASS\n");
  return wrong ? 1 : 0;
}
