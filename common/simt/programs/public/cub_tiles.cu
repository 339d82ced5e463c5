// CUB's tiles of a warp, what a thread does with its own items, segments of a warp, and more of its device algorithms.
#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>

#include <cstdio>
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
struct Items {
  T* at;
  explicit Items(const std::vector<T>& values) {
    cudaMallocManaged(&at, values.size() * sizeof(T));
    for (size_t i = 0; i < values.size(); i++) at[i] = values[i];
  }
  ~Items() { cudaFree(at); }
  operator T*() const { return at; }
};

template <typename Call>
void in_two_calls(const Call& call) {
  void* storage = nullptr;
  size_t bytes = 0;
  EXPECT(call(storage, bytes) == cudaSuccess);
  cudaMalloc(&storage, bytes);
  EXPECT(call(storage, bytes) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  cudaFree(storage);
}

// Each half of a warp reverses its tile of 16 * 4 items, but for those beyond `valid`.
__global__ void reversed(const int* in, int* out, int valid) {
  using Load = cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE, 16>;
  using Store = cub::WarpStore<int, 4, cub::WARP_STORE_TRANSPOSE, 16>;
  __shared__ union {
    Load::TempStorage load;
    Store::TempStorage store;
  } storage[4];
  const int part = threadIdx.x / 16;
  int items[4];
  Load(storage[part].load).Load(in + part * 64, items, valid, -1);
  for (int k = 0; k < 2; k++) {
    const int kept = items[k];
    items[k] = items[3 - k];
    items[3 - k] = kept;
  }
  __syncwarp();
  Store(storage[part].store).Store(out + part * 64, items, valid);
}

__global__ void exchanged(int* out) {
  using Exchange = cub::WarpExchange<int, 2>;
  __shared__ Exchange::TempStorage storage;
  int items[2], ranks[2];
  for (int k = 0; k < 2; k++) items[k] = threadIdx.x * 2 + k;
  Exchange(storage).BlockedToStriped(items, items);
  for (int k = 0; k < 2; k++) out[threadIdx.x * 2 + k] = items[k];
  for (int k = 0; k < 2; k++) ranks[k] = 63 - items[k];
  __syncwarp();
  Exchange(storage).ScatterToStriped(items, ranks);
  for (int k = 0; k < 2; k++) out[64 + k * 32 + threadIdx.x] = items[k];
}

__global__ void segments(int* out) {
  using Reduce = cub::WarpReduce<int, 16>;
  __shared__ Reduce::TempStorage storage[2];
  const int lane = threadIdx.x % 16;
  out[threadIdx.x] = Reduce(storage[threadIdx.x / 16]).HeadSegmentedSum(lane, lane % 5 == 0);
  out[32 + threadIdx.x] = Reduce(storage[threadIdx.x / 16]).TailSegmentedSum(lane, lane % 5 == 4);
  int own[3] = {lane, 2, 3};
  out[64 + threadIdx.x] = cub::ThreadReduce(own, cuda::std::plus<>());
  out[128 + threadIdx.x] = cub::ShuffleUp<16>(lane, 1, 0, 0xffffffffu) * 100 + cub::ShuffleDown<16>(lane, 1, 15, ~0u);
  out[96 + threadIdx.x] = cub::LowerBound(out + 64, 16, 9) * 10 + cub::UpperBound(out + 64, 16, 9);
#if CUB_VERSION < 300000  // with CUDA 12 and before
  int sums[3];
  cub::ThreadScanExclusive(own, sums, cub::Sum(), 1);
  out[160 + threadIdx.x] = __popc(cub::LaneMaskLt()) * 100 + sums[2];
#endif
}

struct IsBelow {
  int bound;
  __host__ __device__ bool operator()(int x) const { return x < bound; }
};
struct Larger {
  __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

static void warps() {
  std::vector<int> numbers(128);
  for (int i = 0; i < 128; i++) numbers[i] = i;
  Items<int> in(numbers), out(std::vector<int>(192, -7));
  reversed<<<1, 32>>>(in, out, 62);
  cudaDeviceSynchronize();
  for (int i = 0; i < 60; i++) EXPECT(out[64 + i] == 64 + i / 4 * 4 + 3 - i % 4);
  EXPECT(out[60] == -1 && out[61] == -1 && out[62] == -7);
  exchanged<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; i++) EXPECT(out[i] == i / 2 + i % 2 * 32 && out[64 + i] == 63 - i);
  segments<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  for (int part = 0; part < 2; part++) {
    const int* const at = out + part * 16;
    EXPECT(at[0] == 0 + 1 + 2 + 3 + 4 && at[5] == 5 + 6 + 7 + 8 + 9 && at[15] == 15);
    EXPECT(at[32] == 10 && at[35] == 35 - 32 + 4 && at[32 + 10] == 60);
    EXPECT(at[64 + 4] == 9 && at[96 + 4] == 45);
    EXPECT(at[128] == 1 && at[128 + 15] == 1415);
#if CUB_VERSION < 300000
    EXPECT(at[160 + 4] == (part * 16 + 4) * 100 + 1 + 4 + 2);
#endif
  }
}

static void devices() {
  Items<int> in({5, 1, 5, 2, 9, 2}), keys({1, 1, 1, 2, 2, 2}), out(std::vector<int>(6)), more(std::vector<int>(6)),
      rest(std::vector<int>(6)), counts({0, 0});
  in_two_calls([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSumByKey(s, b, keys.at, in.at, out.at, 6); });
  EXPECT(out[2] == 6 && out[3] == 0 && out[5] == 11);
  in_two_calls([&](void* s, size_t& b) {
    return cub::DeviceScan::InclusiveScanByKey(s, b, keys.at, in.at, out.at, Larger(), 6);
  });
  EXPECT(out[1] == 5 && out[3] == 2 && out[5] == 9);
  in_two_calls([&](void* s, size_t& b) {
    return cub::DeviceScan::InclusiveScanInit(s, b, in.at, out.at, cuda::std::plus<>(), 100, 6);
  });
  EXPECT(out[0] == 105 && out[5] == 124);
  in_two_calls([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, out.at, 6); });
  EXPECT(out[0] == 0 && out[2] == 105 + 106);
  in_two_calls([&](void* s, size_t& b) {
    return cub::DeviceReduce::TransformReduce(s, b, in.at, out.at, 6, cuda::std::plus<>(), Square(), 1);
  });
  EXPECT(out[0] == 1 + 25 + 1 + 25 + 4 + 81 + 4);
  in_two_calls([&](void* s, size_t& b) {
    return cub::DevicePartition::If(s, b, in.at, out.at, more.at, rest.at, counts.at, 6, IsBelow{3}, IsBelow{6});
  });
  EXPECT(counts[0] == 3 && counts[1] == 2 && out[2] == 2 && more[1] == 5 && rest[0] == 9);
  in_two_calls([&](void* s, size_t& b) {
    return cub::DeviceSelect::FlaggedIf(s, b, in.at, keys.at, out.at, counts.at, 6, IsBelow{2});
  });
  EXPECT(counts[0] == 3 && out[2] == 5);
  EXPECT(cub::DeviceTransform::Transform(cuda::std::make_tuple(in.at, keys.at), out.at, 6, Larger()) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && out[1] == 1 && out[3] == 2);
}

static void several() {
  Items<unsigned char> pixels({0, 1, 2, 255, 0, 1, 3, 255});
  Items<int> first(std::vector<int>(256)), second(std::vector<int>(256)), third(std::vector<int>(256));
  int* bins[3] = {first, second, third};
  int levels[3] = {257, 257, 257};
  unsigned lower[3] = {0, 0, 0}, upper[3] = {256, 256, 256};
  in_two_calls([&](void* s, size_t& b) {
    return cub::DeviceHistogram::MultiHistogramEven<4, 3>(s, b, pixels.at, bins, levels, lower, upper, 2);
  });
  EXPECT(first[0] == 2 && second[1] == 2 && third[2] == 1 && third[3] == 1);
  Items<int> from({1, 2, 3, 4}), to(std::vector<int>(4));
  Items<int*> sources({from.at, from.at + 1}), targets({to.at + 3, to.at});
  Items<int> sizes({1, 3});
  in_two_calls([&](void* s, size_t& b) { return cub::DeviceCopy::Batched(s, b, sources.at, targets.at, sizes.at, 2); });
  EXPECT(to[0] == 2 && to[2] == 4 && to[3] == 1);
  Items<void*> bytes_from({from.at}), bytes_to({to.at});
  Items<size_t> bytes({16});
  in_two_calls(
      [&](void* s, size_t& b) { return cub::DeviceMemcpy::Batched(s, b, bytes_from.at, bytes_to.at, bytes.at, 1); });
  EXPECT(to[0] == 1 && to[3] == 4);
}

int main() {
  warps();
  devices();
  several();
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
