// CUB's primitives of a block that look at neighbours, count, and sort by a comparison.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

constexpr int threads = 96, items = 3, n = threads * items, bins = 16;

static int wrong = 0;
static void expect(bool is_right, const char* what) {
  if (!is_right) printf("FAIL %s\n", what), wrong++;
}

__global__ void flags(const int* in, int* heads, int* tails, int* both, int outside) {
  using Discontinuity = cub::BlockDiscontinuity<int, threads>;
  __shared__ typename Discontinuity::TempStorage storage;
  int mine[items], head[items], tail[items];
  cub::LoadDirectBlocked(threadIdx.x, in, mine);
  Discontinuity(storage).FlagHeads(head, mine, cub::Inequality());
  cub::StoreDirectBlocked(threadIdx.x, heads, head);
  __syncthreads();
  Discontinuity(storage).FlagTails(
      tail, mine, [](int a, int b, int index) { return a != b || index % 5 == 0; }, outside);
  cub::StoreDirectBlocked(threadIdx.x, tails, tail);
  __syncthreads();
  Discontinuity(storage).FlagHeadsAndTails(head, outside, tail, mine, cub::Inequality());
  for (int i = 0; i < items; i++) head[i] = 2 * head[i] + tail[i];
  cub::StoreDirectBlocked(threadIdx.x, both, head);
}

struct Minus {
  __device__ int operator()(int a, int b) const { return a - b; }
};
__global__ void differences(const int* in, int* left, int* right, int* moved, int valid) {
  using Difference = cub::BlockAdjacentDifference<int, threads>;
  using Shuffle = cub::BlockShuffle<int, threads>;
  __shared__ union {
    typename Difference::TempStorage difference;
    typename Shuffle::TempStorage shuffle;
  } storage;
  int mine[items], out[items];
  cub::LoadDirectBlocked(threadIdx.x, in, mine);
  Difference(storage.difference).SubtractLeft(mine, out, Minus(), 1000);
  cub::StoreDirectBlocked(threadIdx.x, left, out);
  __syncthreads();
  Difference(storage.difference).SubtractRightPartialTile(mine, out, Minus(), valid);
  cub::StoreDirectBlocked(threadIdx.x, right, out);
  __syncthreads();
  int next[items] = {-1, -1, -1}, prefix, rotated, offset = -1;
  Shuffle(storage.shuffle).Down(mine, next, prefix);
  cub::StoreDirectBlocked(threadIdx.x, moved, next);
  __syncthreads();
  Shuffle(storage.shuffle).Rotate(mine[0], rotated, 5);
  __syncthreads();
  Shuffle(storage.shuffle).Offset(mine[0], offset, -2);
  moved[n + threadIdx.x] = rotated + prefix;
  moved[n + threads + threadIdx.x] = offset;
}

__global__ void histograms(const unsigned char* in, unsigned* out) {
  using Histogram = cub::BlockHistogram<unsigned char, threads, items, bins, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned counts[bins];
  unsigned char mine[items];
  cub::LoadDirectStriped<threads>(threadIdx.x, in, mine);
  Histogram(storage).Histogram(mine, counts);
  __syncthreads();
  Histogram(storage).Composite(mine, counts);
  __syncthreads();
  if (threadIdx.x < bins) out[threadIdx.x] = counts[threadIdx.x];
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
__global__ void sorts(const int* in, int* keys, int* values, int* some, int valid) {
  using Sort = cub::BlockMergeSort<int, threads, items, int>;
  using SortKeys = cub::WarpMergeSort<int, items, 16>;
  __shared__ typename Sort::TempStorage storage;
  __shared__ typename SortKeys::TempStorage warps[threads / 16];
  int key[items], value[items];
  cub::LoadDirectBlocked(threadIdx.x, in, key);
  for (int i = 0; i < items; i++) value[i] = threadIdx.x * items + i;
  Sort(storage).StableSort(key, value, Less(), valid, 1 << 30);
  cub::StoreDirectBlocked(threadIdx.x, keys, key);
  cub::StoreDirectBlocked(threadIdx.x, values, value);
  cub::LoadDirectBlocked(threadIdx.x, in, key);
  SortKeys(warps[threadIdx.x / 16]).Sort(key, Less());
  cub::StoreDirectBlocked(threadIdx.x, some, key);
}

template <typename T>
T* managed(int count) {
  T* pointer;
  CubDebugExit(cudaMallocManaged(&pointer, count * sizeof(T)));
  return pointer;
}

int main() {
  int* const in = managed<int>(n);
  int *const a = managed<int>(2 * n), *const b = managed<int>(2 * n), *const c = managed<int>(2 * n);
  for (int i = 0; i < n; i++) in[i] = i * i / 50 % 7;
  flags<<<1, threads>>>(in, a, b, c, in[0]);
  CubDebugExit(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) {
    const int before = i > 0 ? in[i - 1] : in[0] + 1, after = i + 1 < n ? in[i + 1] : in[0];
    expect(a[i] == (in[i] != before), "heads");
    expect(b[i] == (in[i] != after || (i + 1) % 5 == 0), "tails");
    expect(c[i] == 2 * (i > 0 && in[i] != in[i - 1]) + (i + 1 == n || in[i] != in[i + 1]), "heads and tails");
  }

  const int valid = n - 7;
  differences<<<1, threads>>>(in, a, b, c, valid);
  CubDebugExit(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) {
    expect(a[i] == in[i] - (i > 0 ? in[i - 1] : 1000), "to the left");
    expect(b[i] == (i + 1 < valid ? in[i] - in[i + 1] : in[i]), "to the right");
    expect(c[i] == (i + 1 < n ? in[i + 1] : -1), "shuffled");
  }
  for (int t = 0; t < threads; t++) {
    expect(c[n + t] == in[(t + 5) % threads * items] + in[0], "rotated");
    expect(c[n + threads + t] == (t >= 2 ? in[(t - 2) * items] : -1), "offset");
  }

  unsigned char* const small = managed<unsigned char>(n);
  unsigned* const counts = managed<unsigned>(bins);
  std::vector<unsigned> expected(bins);
  for (int i = 0; i < n; i++) expected[small[i] = i * i % 13] += 2;
  histograms<<<1, threads>>>(small, counts);
  CubDebugExit(cudaDeviceSynchronize());
  for (int i = 0; i < bins; i++) expect(counts[i] == expected[i], "a histogram");

  for (int i = 0; i < n; i++) in[i] = i * 7919 % 101;
  sorts<<<1, threads>>>(in, a, b, c, valid);
  CubDebugExit(cudaDeviceSynchronize());
  std::vector<int> order(valid);
  for (int i = 0; i < valid; i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return in[x] < in[y]; });
  for (int i = 0; i < valid; i++) expect(b[i] == order[i] && a[i] == in[order[i]], "a block sorted");
  expect(a[n - 1] == 1 << 30, "beyond the last");
  for (int part = 0; part < n; part += 16 * items) {
    std::vector<int> sorted(in + part, in + part + 16 * items);
    std::sort(sorted.begin(), sorted.end());
    expect(std::equal(sorted.begin(), sorted.end(), c + part), "half a warp sorted");
  }
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
