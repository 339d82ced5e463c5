// A sum over the blocks of a cluster of two dimensions that synchronise by inline PTX and know their places by special
// registers. NO_WAIT: the wait before the other blocks' sums are read is left out.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned special(int which) {
  unsigned x;
  if (which == 0) asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
  if (which == 1) asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(x));
  if (which == 2) asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  if (which == 3) asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(x));
  if (which == 4) asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
  if (which == 5) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(x));
  return x;
}

__global__ void __cluster_dims__(2, 2, 1) add(unsigned* sums) {
  __shared__ unsigned own;
  if (threadIdx.x == 0) own = 1000 * special(2) + 10 * special(0) + special(1);
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#ifndef NO_WAIT
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  unsigned sum = 0;
  for (unsigned rank = 0; rank < special(3); rank++)
    sum += *cooperative_groups::this_cluster().map_shared_rank(&own, rank);
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  asm volatile("barrier.cluster.wait.aligned;");
  if (threadIdx.x == 0) sums[special(2) * 4 + special(1) * special(4) + special(0)] = sum + 100000 * special(5);
}

int main() {
  unsigned *on_device, sums[12];
  cudaMalloc(&on_device, sizeof sums);
  add<<<dim3(6, 2), 64>>>(on_device);
  cudaMemcpy(sums, on_device, sizeof sums, cudaMemcpyDeviceToHost);
  bool right = cudaGetLastError() == cudaSuccess;
  for (unsigned i = 0; i < 12; i++) right &= sums[i] == 4000 * (i / 4) + 22 + 100000 * (i % 4);
  printf("%s\n", right ? "PASS" : "FAIL");
  return !right;
}
