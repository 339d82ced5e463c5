// CUB's primitives of a warp and of a block, with several operators, an unfull block, and a named phase for a profiler.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sm_20_atomic_functions.h>

#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

constexpr int threads = 144, blocks = 3, items = 3;  // the last warp is half a warp

struct Best {
  float value;
  int index;
};
struct Better {
  __device__ Best operator()(const Best& a, const Best& b) const { return b.value > a.value ? b : a; }
};
struct Larger {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__global__ void warp_sums(int* out, const int* in) {
  using Reduce = cub::WarpReduce<int, 8>;
  __shared__ typename Reduce::TempStorage storage[16];
  const int i = threadIdx.x;
  const int all = Reduce(storage[i / 8]).Sum(in[i]);
  const int some = Reduce(storage[i / 8]).Reduce(in[i], Larger(), 5);
  if (i % 8 == 0) {
    out[i / 4] = all;
    out[i / 4 + 1] = some;
  }
}

__global__ void block_best(Best* out, int* sums, const int* in, int valid) {
  using ReduceBest = cub::BlockReduce<Best, threads>;
  using ReduceSum = cub::BlockReduce<int, 48, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 3>;
  __shared__ union {
    typename ReduceBest::TempStorage best;
    typename ReduceSum::TempStorage sum;
  } storage;
  const int rank = threadIdx.x + 48 * threadIdx.y, i = blockIdx.x * threads + rank;
  const Best best = ReduceBest(storage.best).Reduce(Best{float(in[i]), i}, Better());
  __syncthreads();
  const int sum = ReduceSum(storage.sum).Sum(in[i], valid);
  if (rank == 0) {
    out[blockIdx.x] = best;
    sums[blockIdx.x] = sum;
  }
}

__global__ void block_scans(int* exclusive, int* running_max, int* pieces, const int* in) {
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  const int i = threadIdx.x;
  int before, all, most;
  Scan(storage).ExclusiveSum(in[i], before, all);
  __syncthreads();
  Scan(storage).InclusiveScan(in[i], most, Larger());
  __syncthreads();
  exclusive[i] = before;
  if (i == 0) exclusive[threads] = all;
  running_max[i] = most;
  int own[items];
  for (int k = 0; k < items; k++) own[k] = in[i * items + k];
  Scan(storage).InclusiveSum(own, own);
  for (int k = 0; k < items; k++) pieces[i * items + k] = own[k];
}

int main() {
  std::vector<int> in(threads * items);
  for (size_t i = 0; i < in.size(); i++) in[i] = int(i * 7919 % 1009) - 300;
  int *x, *sums, *exclusive, *most, *pieces, *warps;
  Best* best;
  cudaMallocManaged(&x, in.size() * sizeof(int));
  cudaMallocManaged(&sums, blocks * sizeof(int));
  cudaMallocManaged(&exclusive, (threads + 1) * sizeof(int));
  cudaMallocManaged(&most, threads * sizeof(int));
  cudaMallocManaged(&pieces, in.size() * sizeof(int));
  cudaMallocManaged(&warps, 32 * sizeof(int));
  cudaMallocManaged(&best, blocks * sizeof(Best));
  cudaMemcpy(x, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);

  int wrong = 0;
  for (int valid : {1, 31, 32, 40, threads}) {
    nvtxRangePushA("reduce");
    block_best<<<blocks, dim3(48, 3)>>>(best, sums, x, valid);
    nvtxRangePop();
    cudaDeviceSynchronize();
    for (int b = 0; b < blocks; b++) {
      int sum = 0, at = b * threads;
      for (int i = b * threads; i < (b + 1) * threads; i++) {
        if (i - b * threads < valid) sum += in[i];
        if (in[i] > in[at]) at = i;
      }
      wrong += sums[b] != sum || best[b].index != at || best[b].value != float(in[at]);
    }
  }
  warp_sums<<<1, 128>>>(warps, x);
  block_scans<<<1, threads>>>(exclusive, most, pieces, x);
  if (cudaDeviceSynchronize() != cudaSuccess) wrong++;
  for (int w = 0; w < 16; w++) {
    int sum = 0, largest = in[w * 8];
    for (int i = 0; i < 8; i++) sum += in[w * 8 + i];
    for (int i = 1; i < 5; i++) largest = in[w * 8 + i] > largest ? in[w * 8 + i] : largest;
    wrong += warps[2 * w] != sum || warps[2 * w + 1] != largest;
  }
  int sum = 0, largest = in[0];
  for (int i = 0; i < threads; i++) {
    largest = in[i] > largest ? in[i] : largest;
    wrong += exclusive[i] != sum || most[i] != largest;
    sum += in[i];
  }
  wrong += exclusive[threads] != sum;
  sum = 0;
  for (size_t i = 0; i < in.size(); i++) wrong += pieces[i] != (sum += in[i]);
  printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
