// CUB's device-wide algorithms with temporary memory in two phases, held against the host's.
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cub/cub.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/functional>
#include <numeric>
#include <vector>

constexpr int count = 2011;

int wrong = 0;
void expect(bool is, const char* what) {
  if (!is) printf("%s is wrong\n", what), wrong++;
}

// Calls the algorithm without memory, then with as much as it asked for.
template <typename Algorithm>
void twice(const Algorithm& algorithm, const char* what) {
  void* memory = nullptr;
  size_t bytes = 0;
  expect(algorithm(memory, bytes) == cudaSuccess && bytes > 0, what);
  cudaMalloc(&memory, bytes);
  expect(algorithm(memory, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, what);
  cudaFree(memory);
}
template <typename T>
std::vector<T> on_host(const T* device, size_t items) {
  std::vector<T> values(items);
  cudaMemcpy(values.data(), device, items * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

int main() {
  std::vector<int> in(count);
  std::vector<float> floats(count);
  for (int i = 0; i < count; i++) in[i] = int(i * 7919ll % 509) - 200, floats[i] = std::sin(float(i)) * 4.0f;
  int *x, *y, *places, *sorted_places, *number;
  float *f, *sorted;
  cudaMalloc(&x, count * sizeof(int));
  cudaMalloc(&y, count * sizeof(int));
  cudaMalloc(&places, count * sizeof(int));
  cudaMalloc(&sorted_places, count * sizeof(int));
  cudaMalloc(&number, sizeof(int));
  cudaMalloc(&f, count * sizeof(float));
  cudaMalloc(&sorted, count * sizeof(float));
  cudaMemcpy(x, in.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(f, floats.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  std::vector<int> order(count), wanted(count);
  std::iota(order.begin(), order.end(), 0);
  cudaMemcpy(places, order.data(), count * sizeof(int), cudaMemcpyHostToDevice);

  twice([&](void* m, size_t& b) { return cub::DeviceReduce::Sum(m, b, x, number, count); }, "Sum");
  expect(on_host(number, 1)[0] == std::accumulate(in.begin(), in.end(), 0), "Sum");
  twice([&](void* m, size_t& b) { return cub::DeviceReduce::Max(m, b, x, number, count); }, "Max");
  expect(on_host(number, 1)[0] == *std::max_element(in.begin(), in.end()), "Max");
  twice([&](void* m, size_t& b) { return cub::DeviceReduce::Min(m, b, x, number, count); }, "Min");
  expect(on_host(number, 1)[0] == *std::min_element(in.begin(), in.end()), "Min");
  const thrust::counting_iterator<int> numbers(1);
  twice(
      [&](void* m, size_t& b) { return cub::DeviceReduce::Reduce(m, b, numbers, number, 100, cuda::std::plus<>{}, 7); },
      "Reduce");
  expect(on_host(number, 1)[0] == 5057, "Reduce of an iterator");

  twice([&](void* m, size_t& b) { return cub::DeviceScan::InclusiveSum(m, b, x, y, count); }, "InclusiveSum");
  std::partial_sum(in.begin(), in.end(), wanted.begin());
  expect(on_host(y, count) == wanted, "InclusiveSum");
  twice([&](void* m, size_t& b) { return cub::DeviceScan::ExclusiveSum(m, b, x, y, count); }, "ExclusiveSum");
  for (int i = count - 1; i > 0; i--) wanted[i] = wanted[i - 1];
  wanted[0] = 0;
  expect(on_host(y, count) == wanted, "ExclusiveSum");
  twice([&](void* m, size_t& b) { return cub::DeviceScan::ExclusiveScan(m, b, x, y, cuda::maximum<>{}, -1000, count); },
        "ExclusiveScan");
  for (int i = 0, most = -1000; i < count; i++) wanted[i] = most, most = std::max(most, in[i]);
  expect(on_host(y, count) == wanted, "ExclusiveScan");

  twice(
      [&](void* m, size_t& b) {
        return cub::DeviceRadixSort::SortPairsDescending(m, b, f, sorted, places, sorted_places, count);
      },
      "SortPairsDescending");
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return floats[a] > floats[b]; });
  expect(on_host(sorted_places, count) == order, "values of SortPairsDescending");
  expect(on_host(sorted, count)[5] == floats[order[5]], "keys of SortPairsDescending");
  twice([&](void* m, size_t& b) { return cub::DeviceRadixSort::SortKeys(m, b, x, y, count); }, "SortKeys");
  wanted = in;
  std::sort(wanted.begin(), wanted.end());
  expect(on_host(y, count) == wanted, "SortKeys");
  cub::DoubleBuffer<int> buffer(x, y);
  cudaMemcpy(y, in.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  twice([&](void* m, size_t& b) { return cub::DeviceRadixSort::SortKeysDescending(m, b, buffer, count); }, "buffers");
  std::reverse(wanted.begin(), wanted.end());
  expect(on_host(buffer.Current(), count) == wanted, "SortKeysDescending of a DoubleBuffer");

  cudaMemcpy(x, in.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  twice([&](void* m, size_t& b) { return cub::DeviceSelect::If(m, b, x, y, number, count, IsOdd()); }, "If");
  wanted.clear();
  std::copy_if(in.begin(), in.end(), std::back_inserter(wanted), IsOdd());
  expect(on_host(y, on_host(number, 1)[0]) == wanted, "If");
  twice([&](void* m, size_t& b) { return cub::DeviceSelect::Flagged(m, b, x, places, y, number, count); }, "Flagged");
  expect(on_host(y, on_host(number, 1)[0]) == std::vector<int>(in.begin() + 1, in.end()), "Flagged");

  twice([&](void* m, size_t& b) { return cub::DeviceHistogram::HistogramEven(m, b, f, y, 9, -4.0f, 4.0f, count); },
        "HistogramEven");
  std::vector<int> bins(8);
  for (float item : floats) {
    if (item >= -4.0f && item < 4.0f) bins[int(item + 4.0f)]++;
  }
  expect(on_host(y, 8) == bins, "HistogramEven");
  const std::vector<int> edges = {-100, -10, 0, 5, 300};
  thrust::device_vector<int> levels(edges.begin(), edges.end());
  twice(
      [&](void* m, size_t& b) {
        return cub::DeviceHistogram::HistogramRange(m, b, x, y, 5, thrust::raw_pointer_cast(levels.data()), count);
      },
      "HistogramRange");
  bins.assign(4, 0);
  for (int item : in) {
    for (int b = 0; b < 4; b++) bins[b] += item >= edges[b] && item < edges[b + 1];
  }
  expect(on_host(y, 4) == bins, "HistogramRange");

  size_t bytes = 1;
  expect(cub::DeviceRadixSort::SortKeys(y, bytes, x, y, count) == cudaErrorInvalidValue, "too little memory");
  puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
