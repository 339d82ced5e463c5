// CUB's sorts of segments and by a comparison, as argsort of the rows of a matrix and ranking use them; and the
// transposition of a fragment by movmatrix.
#include <cub/cub.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/util_type.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* pointer;
  EXPECT(cudaMalloc(&pointer, values.size() * sizeof(T)) == cudaSuccess);
  EXPECT(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return pointer;
}
template <typename T>
std::vector<T> on_host(const T* pointer, size_t count) {
  std::vector<T> values(count);
  EXPECT(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return values;
}
// Runs both phases.
template <typename Call>
void twice(const Call& call) {
  size_t bytes = 0;
  EXPECT(call(nullptr, bytes) == cudaSuccess);
  void* storage;
  EXPECT(cudaMalloc(&storage, bytes) == cudaSuccess);
  EXPECT(call(storage, bytes) == cudaSuccess);
  EXPECT(cudaFree(storage) == cudaSuccess);
}

struct ByDistance {
  float from;
  __device__ bool operator()(float a, float b) const { return fabsf(a - from) < fabsf(b - from); }
};

__global__ void transpose_fragment(const uint32_t* in, uint32_t* out) {
  // The same by ldmatrix, from a generic address.
  __shared__ uint32_t tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  uint32_t loaded;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%0}, [%1];" : "=r"(loaded) : "l"(tile + threadIdx.x % 8 * 4));
  uint32_t to;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(to) : "r"(in[threadIdx.x]));
  out[threadIdx.x] = to == loaded ? to : 0;
}

int main() {
  const std::vector<int> offsets = {0, 40, 40, 41, 137, 200};
  const int n = 210, segments = 5;  // the last ten are in none
  std::vector<float> keys(n);
  std::vector<int> places(n);
  unsigned seed = 1;
  for (float& key : keys) key = int((seed = seed * 1664525u + 1013904223u) >> 24) - 128;
  std::iota(places.begin(), places.end(), 0);
  float *in = on_device(keys), *out = on_device(keys);
  int *values_in = on_device(places), *values_out = on_device(places), *begins = on_device(offsets);
  const auto in_order = [&](bool descending) {
    std::vector<int> order(places);
    for (int s = 0; s < segments; s++)
      std::stable_sort(order.begin() + offsets[s], order.begin() + offsets[s + 1],
                       [&](int a, int b) { return descending ? keys[a] > keys[b] : keys[a] < keys[b]; });
    return order;
  };
  const auto expect = [&](bool descending) {
    EXPECT(on_host(values_out, n) == in_order(descending));
    const auto sorted = on_host(out, n);
    for (int i = 0; i < n; i++) EXPECT(sorted[i] == keys[in_order(descending)[i]]);
  };
  twice([&](void* storage, size_t& bytes) {
    return cub::DeviceSegmentedRadixSort::SortPairs(storage, bytes, in, out, values_in, values_out, n, segments, begins,
                                                    begins + 1, 0, sizeof(float) * 8, nullptr);
  });
  expect(false);
  twice([&](void* storage, size_t& bytes) {
    return cub::DeviceSegmentedSort::SortPairsDescending(storage, bytes, in, out, values_in, values_out, n, segments,
                                                         begins, begins + 1);
  });
  expect(true);
  twice([&](void* storage, size_t& bytes) {
    cub::DoubleBuffer<float> both(out, in);
    return cub::DeviceSegmentedSort::StableSortKeys(storage, bytes, both, n, segments, begins, begins + 1);
  });
  const auto again = on_host(out, n);
  for (int i = 0; i < n; i++) EXPECT(again[i] == keys[in_order(false)[i]]);

  twice([&](void* storage, size_t& bytes) {
    return cub::DeviceMergeSort::SortPairsCopy(storage, bytes, in, values_in, out, values_out, n, ByDistance{3.5f});
  });
  std::vector<int> nearest(places);
  std::stable_sort(nearest.begin(), nearest.end(),
                   [&](int a, int b) { return std::abs(keys[a] - 3.5f) < std::abs(keys[b] - 3.5f); });
  EXPECT(on_host(values_out, n) == nearest);
  twice([&](void* storage, size_t& bytes) {
    return cub::DeviceMergeSort::StableSortKeys(storage, bytes, in, n, ByDistance{0});
  });
  const auto by_size = on_host(in, n);
  for (int i = 1; i < n; i++) EXPECT(std::abs(by_size[i - 1]) <= std::abs(by_size[i]));

  std::vector<uint32_t> fragment(32);
  for (unsigned lane = 0; lane < 32; lane++) {
    const unsigned first = lane / 4 * 8 + lane % 4 * 2;
    fragment[lane] = first | (first + 1) << 16;  // element (r, c) is 8 r + c
  }
  uint32_t *from = on_device(fragment), *to = on_device(fragment);
  transpose_fragment<<<1, 32>>>(from, to);
  const auto turned = on_host(to, 32);
  for (unsigned lane = 0; lane < 32; lane++) {
    const unsigned row = lane / 4, column = lane % 4 * 2;
    EXPECT(turned[lane] == ((column * 8 + row) | ((column + 1) * 8 + row) << 16));
  }
  if (!wrong) std::printf("PASS\n");
  return wrong ? 1 : 0;
}
