// CUB on items of their own and beside their neighbours; iterators that number what they read; loads and stores with a
// word for the caches.
#include <cub/cub.cuh>
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_for.cuh>
#include <cub/iterator/arg_index_input_iterator.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_store.cuh>

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

constexpr int n = 1000;

struct Square {
  __device__ void operator()(int& value) const { value *= value; }
};
struct AddTo {
  int* sum;
  __device__ void operator()(int value) const { atomicAdd(sum, value); }
};

__global__ void through_caches(const int* in, int* out) {
  const int i = threadIdx.x;
  cub::ThreadStore<cub::STORE_CG>(
      out + i, cub::ThreadLoad<cub::LOAD_LDG>(in + i) + cub::ThreadLoad<cub::LOAD_VOLATILE>(in + i + 1));
}

template <typename Call>
void in_two_phases(const Call& call) {
  size_t bytes = 0;
  EXPECT(call(nullptr, bytes) == cudaSuccess && bytes > 0);
  void* storage;
  EXPECT(cudaMalloc(&storage, bytes) == cudaSuccess);
  EXPECT(call(storage, bytes) == cudaSuccess);
  EXPECT(cudaFree(storage) == cudaSuccess);
}

int main() {
  int *in, *out, *sum;
  EXPECT(cudaMallocManaged(&in, n * sizeof(int)) == cudaSuccess);
  EXPECT(cudaMallocManaged(&out, n * sizeof(int)) == cudaSuccess);
  EXPECT(cudaMallocManaged(&sum, sizeof(int)) == cudaSuccess);
  for (int i = 0; i < n; i++) in[i] = i % 10;
  *sum = 0;

  EXPECT(cub::DeviceFor::ForEachN(in, n, Square()) == cudaSuccess);
  EXPECT(cub::DeviceFor::ForEachCopy(in, in + n, AddTo{sum}) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(in[9] == 81 && *sum == 28500);
  EXPECT(cub::DeviceFor::Bulk(10, AddTo{sum}) == cudaSuccess);
  in_two_phases([&](void* storage, size_t& bytes) { return cub::DeviceFor::Bulk(storage, bytes, 3, AddTo{sum}); });
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*sum == 28548);

  in_two_phases([&](void* storage, size_t& bytes) {
    return cub::DeviceAdjacentDifference::SubtractLeftCopy(storage, bytes, in, out, n);
  });
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[0] == 0 && out[5] == 9 && out[10] == -81);
  in_two_phases([&](void* storage, size_t& bytes) {
    return cub::DeviceAdjacentDifference::SubtractRight(storage, bytes, out, n, cub::Max());
  });
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[0] == 1 && out[9] == 17 && out[n - 1] == 17);

  using Item = cub::KeyValuePair<std::ptrdiff_t, int>;
  Item* best;
  EXPECT(cudaMallocManaged(&best, sizeof *best) == cudaSuccess);
  const cub::ArgIndexInputIterator<int*> numbered(in);
  EXPECT((numbered + 7)[1].key == 8 && (numbered + 7)[1].value == 64);
  in_two_phases([&](void* storage, size_t& bytes) {
    return cub::DeviceReduce::Reduce(storage, bytes, numbered, best, n, cub::ArgMax(), Item{-1, -1});
  });
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(best->key == 9 && best->value == 81);
  const cub::CacheModifiedInputIterator<cub::LOAD_LDG, int> cached(in);
  in_two_phases([&](void* storage, size_t& bytes) { return cub::DeviceReduce::Sum(storage, bytes, cached, sum, n); });
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*sum == 28500);

  through_caches<<<1, 64>>>(in, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[2] == 13 && out[8] == 145);
  std::printf("PASS\n");
  return 0;
}
