// CUB's loads, exchanges, scans and radix sort of a block, as sorting and compaction kernels use them, held against the
// host's.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <numeric>
#include <vector>

constexpr int threads = 96, items = 5, tile = threads * items;

template <typename Key, bool descending>
__global__ void sort_pairs(Key* keys_out, int* places, const Key* in, int valid, Key last) {
  using Load = cub::BlockLoad<Key, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<Key, threads, items, int>;
  using Store = cub::BlockStore<Key, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } storage;
  Key keys[items];
  int values[items];
  Load(storage.load).Load(in, keys, valid, last);
  for (int k = 0; k < items; k++) values[k] = threadIdx.x * items + k;
  __syncthreads();
  if (descending)
    Sort(storage.sort).SortDescending(keys, values);
  else
    Sort(storage.sort).Sort(keys, values);
  __syncthreads();
  Store(storage.store).Store(keys_out, keys, valid);
  for (int k = 0; k < items; k++) places[threadIdx.x * items + k] = values[k];
}

__global__ void sort_bits(unsigned* out, const unsigned* in) {
  using Sort = cub::BlockRadixSort<unsigned, threads, items>;
  __shared__ typename Sort::TempStorage storage;
  unsigned keys[items];
  cub::BlockLoad<unsigned, threads, items>::TempStorage nothing;
  cub::BlockLoad<unsigned, threads, items>(nothing).Load(in, keys);
  Sort(storage).SortBlockedToStriped(keys, 4, 12);
  for (int k = 0; k < items; k++) out[k * threads + threadIdx.x] = keys[k];
}

__global__ void exchange(int* out, const int* in) {
  using Exchange = cub::BlockExchange<int, threads, items>;
  __shared__ typename Exchange::TempStorage storage;
  int own[items];
  for (int k = 0; k < items; k++) own[k] = in[k * threads + threadIdx.x];
  Exchange(storage).StripedToBlocked(own);
  for (int k = 0; k < items; k++) own[k] = 3 * own[k] + threadIdx.x;
  __syncthreads();
  Exchange(storage).BlockedToStriped(own, own);
  for (int k = 0; k < items; k++) out[k * threads + threadIdx.x] = own[k];
}

struct Running {
  int total;
  __device__ int operator()(int of_block) {
    const int before = total;
    total += of_block;
    return before;
  }
};

// One block over an array of any length, tile by tile.
__global__ void long_scans(int* sums, int* largest, int* before, const int* in, int count) {
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  Running running{0};
  for (int base = 0; base < count; base += tile) {
    int own[items], maxima[items], firsts[items], all;
    for (int k = 0; k < items; k++) {
      const int i = base + threadIdx.x * items + k;
      own[k] = i < count ? in[i] : 0;
    }
    Scan(storage).InclusiveScan(own, maxima, cuda::maximum<int>{});
    __syncthreads();
    Scan(storage).ExclusiveScan(own, firsts, 1000, cuda::minimum<>{}, all);
    __syncthreads();
    Scan(storage).ExclusiveSum(own, own, running);
    __syncthreads();
    for (int k = 0; k < items; k++) {
      const int i = base + threadIdx.x * items + k;
      if (i < count) sums[i] = own[k], largest[i] = maxima[k], before[i] = firsts[k];
    }
  }
}

__global__ void warp_scans(int* out, const int* in) {
  using Scan = cub::WarpScan<int, 16>;
  __shared__ typename Scan::TempStorage storage[threads / 16];
  int sum, product, all;
  Scan(storage[threadIdx.x / 16]).ExclusiveSum(in[threadIdx.x], sum, all);
  Scan(storage[threadIdx.x / 16]).InclusiveScan(in[threadIdx.x] % 3, product, cuda::std::plus<>{});
  out[threadIdx.x] = sum + 7 * product + 11 * all;
}

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* device;
  cudaMalloc(&device, values.size() * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <typename T>
std::vector<T> on_host(const T* device, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

int wrong = 0;
void expect(bool is, const char* what) {
  if (!is) printf("%s is wrong\n", what), wrong++;
}

template <typename Key, bool descending>
void try_sort(std::vector<Key> in, int valid, Key last, const char* what) {
  Key *x = on_device(in), *keys = on_device(in);
  int* places = on_device(std::vector<int>(tile));
  sort_pairs<Key, descending><<<1, threads>>>(keys, places, x, valid, last);
  for (int i = valid; i < tile; i++) in[i] = last;
  std::vector<int> order(tile);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return descending ? in[a] > in[b] : in[a] < in[b]; });
  const std::vector<Key> got = on_host(keys, valid);
  expect(on_host(places, tile) == order, what);
  for (int i = 0; i < valid; i++) {
    if (got[i] != in[order[i]]) return expect(false, what);
  }
}

int main() {
  const int count = 3 * tile + 17;
  std::vector<int> in(count);
  for (int i = 0; i < count; i++) in[i] = int(i * 7919ll % 1009) - 300;
  std::vector<int> ints(in.begin(), in.begin() + tile);
  std::vector<float> floats(tile);
  std::vector<unsigned long long> wide(tile);
  std::vector<unsigned> words(tile);
  for (int i = 0; i < tile; i++) {
    floats[i] = i % 7 == 0 ? -0.0f : i % 7 == 1 ? 0.0f : i == 5 ? -INFINITY : std::sin(float(i)) * 100.0f;
    wide[i] = (i * 0x9E3779B97F4A7C15ull) >> (i % 3);
    words[i] = i * 2654435761u;
  }
  try_sort<int, false>(ints, tile, 0, "an ascending sort of integers");
  try_sort<int, true>(ints, tile - 33, -10000, "a descending sort of integers");
  try_sort<float, false>(floats, tile, 0, "an ascending sort of floats");
  try_sort<float, true>(floats, tile - 1, -INFINITY, "a descending sort of floats");
  try_sort<unsigned long long, false>(wide, tile, 0, "a sort of words of 8 bytes");

  unsigned* sorted = on_device(words);
  sort_bits<<<1, threads>>>(sorted, on_device(words));
  std::stable_sort(words.begin(), words.end(), [](unsigned a, unsigned b) { return (a >> 4 & 255) < (b >> 4 & 255); });
  expect(on_host(sorted, tile) == words, "a sort by 8 bits");

  int* x = on_device(in);
  int *a = on_device(in), *b = on_device(in), *c = on_device(in);
  exchange<<<1, threads>>>(a, x);
  std::vector<int> wanted(tile);
  for (int i = 0; i < tile; i++) wanted[i] = 3 * in[i] + i / items;
  expect(on_host(a, tile) == wanted, "an exchange");

  long_scans<<<1, threads>>>(a, b, c, x, count);
  const std::vector<int> sums = on_host(a, count), largest = on_host(b, count), before = on_host(c, count);
  int sum = 0, most = 0, least = 0;
  bool right[3] = {true, true, true};
  for (int i = 0; i < count; i++) {
    if (i % tile == 0) most = in[i], least = 1000;
    most = std::max(most, in[i]);
    right[0] &= sums[i] == sum;
    right[1] &= largest[i] == most;
    right[2] &= before[i] == least;
    least = std::min(least, in[i]);
    sum += in[i];
  }
  expect(right[0], "a scan with a callback");
  expect(right[1], "a scan of maxima");
  expect(right[2], "an exclusive scan of minima");

  warp_scans<<<1, threads>>>(a, x);
  const std::vector<int> scans = on_host(a, threads);
  for (int first = 0; first < threads; first += 16) {
    const int all = std::accumulate(in.begin() + first, in.begin() + first + 16, 0);
    int sum = 0, product = 0;
    for (int i = first; i < first + 16; i++) {
      product += in[i] % 3;
      expect(scans[i] == sum + 7 * product + 11 * all, "a scan of a warp");
      sum += in[i];
    }
  }
  expect(cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess, "a launch");
  puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
