// A histogram whose bins are spread over the shared memory of a cluster's blocks: every block adds to whichever block
// has the bin. NO_BEGIN, NO_END, NO_BARRIER leave one cluster.sync() out; PLAIN_ADD adds without an atomic.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int bins = 128, threads = 96;

__global__ void histogram(const int* x, int n, int* counts, int bins_per_block) {
  extern __shared__ int own[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) own[i] = 0;
#ifndef NO_BEGIN
  cluster.sync();
#endif
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int* const theirs = cluster.map_shared_rank(own, x[i] / bins_per_block);
#ifdef PLAIN_ADD
    theirs[x[i] % bins_per_block] += 1;
#else
    atomicAdd(theirs + x[i] % bins_per_block, 1);
#endif
  }
#ifndef NO_END
  cluster.sync();
#endif
  const int first = cluster.block_rank() * bins_per_block;
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(counts + first + i, own[i]);
}

int main() {
  constexpr int n = 5000;
  std::vector<int> x(n), expected(bins), counts(bins);
  for (int i = 0; i < n; i++) expected[x[i] = i * 37 % 1009 % bins]++;
  int *dx, *dcounts;
  cudaMalloc(&dx, n * sizeof(int));
  cudaMalloc(&dcounts, bins * sizeof(int));
  cudaMemcpy(dx, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (unsigned size : {1u, 2u, 4u, 8u, 16u}) {
    cudaMemset(dcounts, 0, bins * sizeof(int));
    if (size > 8) cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaLaunchConfig_t config = {};
    config.gridDim = 2 * size;
    config.blockDim = threads;
    config.dynamicSmemBytes = bins / size * sizeof(int);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = {size, 1, 1};
    config.attrs = attribute;
    config.numAttrs = 1;
    const cudaError_t error = cudaLaunchKernelEx(&config, histogram, dx, n, dcounts, static_cast<int>(bins / size));
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
      printf("FAIL: cluster of %u: %s\n", size, cudaGetErrorString(error));
      return 1;
    }
    cudaMemcpy(counts.data(), dcounts, bins * sizeof(int), cudaMemcpyDeviceToHost);
    if (counts != expected) {
      printf("FAIL: cluster of %u\n", size);
      return 1;
    }
  }
  printf("PASS\n");
}
