// Thrust beyond the usual: values of device vectors changed one by one, functors that are not const, sets by key,
// orders, allocators; and what <thrust/device_vector.h> brings beside the vector.
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <thrust/unique.h>
#include <thrust/zip_function.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

struct Box {
  float low, high;
};
struct Wider {
  __host__ __device__ Box operator()(const Box& a, const Box& b) const {
    return {thrust::min(a.low, b.low), thrust::max(a.high, b.high)};
  }
};
struct Muladd {  // as many are written: not const
  __host__ __device__ void operator()(const float& a, const float& b, float& to) { to = a * b + 1; }
};
struct Near {
  int by;
  __host__ __device__ bool operator()(int a, int b) const { return a - b <= by && b - a <= by; }
};
__global__ void clamp_all(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = thrust::max(10, thrust::min(values[i], 20));
}

int main() {
  const std::vector<Box> boxes = {{1, 2}, {-3, 0}, {0.5f, 7}};
  thrust::device_vector<Box> there(boxes);
  const Box all = thrust::reduce(there.begin(), there.end(), boxes[0], Wider());
  EXPECT(all.low == -3 && all.high == 7);

  const thrust::device_vector<float> a(4, 3), b(4, 5);
  thrust::device_vector<float> to(4);
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), to.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(a.end(), b.end(), to.end())),
                   thrust::make_zip_function(Muladd()));
  EXPECT(to[0] == 16 && to[3] == 16);

  thrust::device_vector<int> values(40);
  thrust::sequence(values.begin(), values.end());
  values[0] *= 5;
  values[1]++;
  values[2] <<= 3;
  values[3] -= 1;
  --values[4];
  values[5] /= 2;
  const int before = values[6]--;
  EXPECT(values[0] == 0 && values[1] == 2 && values[2] == 16 && values[3] == 2 && values[4] == 3 && values[5] == 2);
  EXPECT(before == 6 && values[6] == 5 && &thrust::raw_reference_cast(values[7]) == values.data().get() + 7);
  clamp_all<<<1, 64>>>(thrust::raw_pointer_cast(values.data()), 40);
  EXPECT(values[0] == 10 && values[39] == 20 && values[15] == 15);
  EXPECT(thrust::unique_count(values.begin() + 7, values.end()) == 11);
  thrust::device_vector<int> moved(values);
  moved[20] = 21;
  EXPECT(!thrust::equal(values.begin(), values.end(), moved.begin()));
  EXPECT(thrust::equal(values.begin(), values.end(), moved.begin(), Near{1}));

  const std::vector<int> keys_a = {0, 2, 4, 6}, keys_b = {0, 3, 4, 9}, values_a = {1, 2, 3, 4}, values_b = {5, 6, 7, 8};
  const thrust::device_vector<int> ka(keys_a), kb(keys_b), va(values_a), vb(values_b);
  thrust::device_vector<int> keys(8), found(8);
  auto end = thrust::set_union_by_key(ka.begin(), ka.end(), kb.begin(), kb.end(), va.begin(), vb.begin(), keys.begin(),
                                      found.begin());
  EXPECT(end.first - keys.begin() == 6 && keys[2] == 3 && found[2] == 6 && found[0] == 1 && found[5] == 8);
  end = thrust::set_intersection_by_key(thrust::device, ka.begin(), ka.end(), kb.begin(), kb.end(), va.begin(),
                                        keys.begin(), found.begin());
  EXPECT(end.second - found.begin() == 2 && keys[1] == 4 && found[1] == 3);
  end = thrust::set_difference_by_key(ka.begin(), ka.end(), kb.begin(), kb.end(), va.begin(), vb.begin(), keys.begin(),
                                      found.begin());
  EXPECT(end.first - keys.begin() == 2 && keys[0] == 2 && found[1] == 4);
  end = thrust::set_symmetric_difference_by_key(ka.begin(), ka.end(), kb.begin(), kb.end(), va.begin(), vb.begin(),
                                                keys.begin(), found.begin());
  EXPECT(end.first - keys.begin() == 4 && keys[1] == 3 && found[1] == 6 && found[3] == 8);

  thrust::device_vector<int, thrust::device_allocator<int>> order(100);
  thrust::sequence(order.begin(), order.end());
  thrust::device_vector<int> mixed(100);
  thrust::default_random_engine engine(7);
  thrust::shuffle_copy(order.begin(), order.end(), mixed.begin(), engine);
  EXPECT(!(mixed == order));
  thrust::shuffle(thrust::device, order.begin(), order.end(), engine);
  EXPECT(!(mixed == order));
  thrust::sort(mixed.begin(), mixed.end());
  EXPECT(mixed[0] == 0 && mixed[57] == 57 && mixed[99] == 99);

  thrust::host_vector<int, thrust::cuda::experimental::pinned_allocator<int>> pinned(100, 4);
  thrust::device_vector<int> copied = pinned;
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, pinned.data()) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeHost && copied[99] == 4);
  int plain[9] = {3, 1, 2, 9, 8, 7, 4, 6, 5}, sorted[9];
  thrust::sort(plain, plain + 9);
  EXPECT(plain[0] == 1 && plain[8] == 9 && thrust::reduce(plain, plain + 9) == 45);
  thrust::device_vector<int> nine(plain, plain + 9);
  thrust::transform(nine.begin(), nine.end(), nine.begin(), thrust::negate<int>());
  thrust::inclusive_scan(nine.begin(), nine.end(), nine.begin());
  thrust::copy(nine.begin(), nine.end(), sorted);
  EXPECT(sorted[1] == -3 && sorted[8] == -45);
  thrust::copy_n(thrust::device, nine.begin() + 1, 2, nine.begin());
  EXPECT(nine[0] == -3 && nine[1] == -6);
  thrust::cuda::pointer<int> raw = thrust::cuda::malloc<int>(3);
  thrust::fill(thrust::cuda::par(thrust::device_allocator<char>()), raw, raw + 3, 6);
  EXPECT(thrust::distance(raw, raw + 3) == 3 && thrust::reduce(raw, raw + 3) == 18);
  thrust::cuda::free(raw);
  std::cout << "all compared\n";
  std::printf("PASS\n");
  return 0;
}
