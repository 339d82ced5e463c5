// CUB's algorithms on runs and segments, and its allocator, held against the host's.
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

constexpr int count = 1000, segments = 7;

cub::CachingDeviceAllocator allocator;
int wrong = 0;
void expect(bool is, const char* what) {
  if (!is) printf("%s is wrong\n", what), wrong++;
}

template <typename Algorithm>
void twice(const Algorithm& algorithm, const char* what) {
  void* memory = nullptr;
  size_t bytes = 0;
  expect(algorithm(memory, bytes) == cudaSuccess && bytes > 0, what);
  allocator.DeviceAllocate(&memory, bytes);
  expect(algorithm(memory, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, what);
  allocator.DeviceFree(memory);
}
template <typename T>
std::vector<T> on_host(const T* device, size_t items) {
  std::vector<T> values(items);
  cudaMemcpy(values.data(), device, items * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

struct Below {
  int limit;
  __host__ __device__ bool operator()(int x) const { return x < limit; }
};

struct Plus {  // CUB's own, cub::Sum, is no longer part of CUDA 13
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

int main() {
  std::vector<int> in(count), offsets(segments + 1);
  for (int i = 0; i < count; i++) in[i] = i / (i % 2 ? 3 : 4) % 11;
  for (int s = 0; s <= segments; s++) offsets[s] = s < 3 ? 10 * s : s == 3 ? 20 : count * s / segments;  // one is empty
  int *x, *values, *lengths, *number, *at;
  cub::KeyValuePair<int, int>* pairs;
  cudaMalloc(&x, count * sizeof(int));
  cudaMalloc(&values, count * sizeof(int));
  cudaMalloc(&lengths, count * sizeof(int));
  cudaMalloc(&number, sizeof(int));
  cudaMalloc(&at, (segments + 1) * sizeof(int));
  cudaMalloc(&pairs, segments * sizeof(cub::KeyValuePair<int, int>));
  cudaMemcpy(x, in.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(at, offsets.data(), (segments + 1) * sizeof(int), cudaMemcpyHostToDevice);

  std::vector<int> heads, sizes, firsts;
  for (int i = 0; i < count; i++) {
    if (i == 0 || in[i] != in[i - 1]) heads.push_back(in[i]), sizes.push_back(0), firsts.push_back(i);
    sizes.back()++;
  }
  const int runs = int(heads.size());
  twice([&](void* m, size_t& b) { return cub::DeviceRunLengthEncode::Encode(m, b, x, values, lengths, number, count); },
        "Encode");
  expect(on_host(number, 1)[0] == runs && on_host(values, runs) == heads && on_host(lengths, runs) == sizes, "Encode");

  std::vector<int> long_firsts, long_sizes;
  for (int r = 0; r < runs; r++) {
    if (sizes[r] > 1) long_firsts.push_back(firsts[r]), long_sizes.push_back(sizes[r]);
  }
  const size_t longer = long_sizes.size();
  twice([&](void* m,
            size_t& b) { return cub::DeviceRunLengthEncode::NonTrivialRuns(m, b, x, values, lengths, number, count); },
        "NonTrivialRuns");
  expect(on_host(number, 1)[0] == int(longer) && on_host(values, longer) == long_firsts &&
             on_host(lengths, longer) == long_sizes,
         "NonTrivialRuns");

  std::vector<int> sums(segments), most(segments);
  for (int s = 0; s < segments; s++) {
    most[s] = -2147483647 - 1;
    for (int i = offsets[s]; i < offsets[s + 1]; i++) {
      sums[s] += in[i];
      if (in[i] > most[s]) most[s] = in[i];
    }
  }
  twice([&](void* m, size_t& b) { return cub::DeviceSegmentedReduce::Sum(m, b, x, values, segments, at, at + 1); },
        "segments' Sum");
  expect(on_host(values, segments) == sums, "segments' Sum");
  twice([&](void* m, size_t& b) { return cub::DeviceSegmentedReduce::Max(m, b, x, values, segments, at, at + 1); },
        "segments' Max");
  expect(on_host(values, segments) == most, "segments' Max");
  twice([&](void* m, size_t& b) { return cub::DeviceSegmentedReduce::ArgMax(m, b, x, pairs, segments, at, at + 1); },
        "segments' ArgMax");
  const auto best = on_host(pairs, segments);
  for (int s = 0; s < segments; s++) {
    const bool empty = offsets[s] == offsets[s + 1];
    expect(best[s].value == most[s] && (empty ? best[s].key == 1 : in[offsets[s] + best[s].key] == most[s]),
           "segments' ArgMax");
  }

  std::vector<int> parted(count);
  int front = 0, back = count;
  for (const int one : in) parted[one < 4 ? front++ : --back] = one;
  twice([&](void* m, size_t& b) { return cub::DevicePartition::If(m, b, x, values, number, count, Below{4}); },
        "Partition");
  expect(on_host(values, count) == parted && on_host(number, 1)[0] == front, "Partition");

  twice([&](void* m, size_t& b) { return cub::DeviceSelect::UniqueByKey(m, b, x, x, values, lengths, number, count); },
        "UniqueByKey");
  expect(on_host(number, 1)[0] == runs && on_host(values, runs) == heads, "UniqueByKey");
  twice([&](void* m,
            size_t& b) { return cub::DeviceReduce::ReduceByKey(m, b, x, values, x, lengths, number, Plus(), count); },
        "ReduceByKey");
  std::vector<int> totals(runs);
  for (int r = 0; r < runs; r++) totals[r] = heads[r] * sizes[r];
  expect(on_host(lengths, runs) == totals, "ReduceByKey");

  void *first = nullptr, *second = nullptr, *third = nullptr;
  allocator.DeviceAllocate(&first, 5000);
  allocator.DeviceFree(first);
  allocator.DeviceAllocate(&second, 6000);  // of the same bin
  allocator.DeviceAllocate(&third, 6000);
  expect(first == second && second != third, "the allocator");
  allocator.DeviceFree(second);
  allocator.DeviceFree(third);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
