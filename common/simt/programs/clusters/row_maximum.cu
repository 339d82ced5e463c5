// A row over the blocks of a cluster: each takes a part, and all get the maximum of all, as in a softmax of long rows.
// Kernels that say their cluster themselves, by a number and by a template's parameter, in one dimension and in two.
// Left out or wrong: NO_LAST (blocks return while others read their shared memory), NO_MIDDLE (they read what is not
// yet written), RACE (all blocks write to the first one's), PAST_END (an index beyond the other block's array).
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

template <int threads>
__device__ float maximum_of_cluster(const float* row, int cols) {
  __shared__ float lanes[threads], own;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned blocks = cluster.num_blocks(), rank = cluster.block_rank();
  float largest = -INFINITY;
  for (unsigned c = rank * threads + threadIdx.x; c < static_cast<unsigned>(cols); c += blocks * threads)
    largest = fmaxf(largest, row[c]);
  lanes[threadIdx.x] = largest;
  __syncthreads();
  if (threadIdx.x == 0) {
    own = lanes[0];
    for (int t = 1; t < threads; t++) own = fmaxf(own, lanes[t]);
  }
#ifdef NO_MIDDLE
  __syncthreads();
#else
  cluster.sync();
#endif
#ifdef RACE
  if (threadIdx.x == 0) *cluster.map_shared_rank(lanes, 0) = rank;
#endif
#ifdef PAST_END
  if (threadIdx.x == 0) cluster.map_shared_rank(lanes, (rank + 1) % blocks)[threads] = 0;
#endif
  float all = -INFINITY;
  for (unsigned r = 0; r < blocks; r++) all = fmaxf(all, *cluster.map_shared_rank(&own, r));
#ifndef NO_LAST
  cluster.sync();
#endif
  return all;
}

constexpr int threads = 64;

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(threads) by_number(const float* x, float* y, int cols) {
  const int row = blockIdx.x / 4;
  const float largest = maximum_of_cluster<threads>(x + row * cols, cols);
  for (int c = blockIdx.x % 4 * threads + threadIdx.x; c < cols; c += 4 * threads)
    y[row * cols + c] = x[row * cols + c] - largest;
}

template <int size>
__global__ void __launch_bounds__(threads) __cluster_dims__(size, 2) by_template(const float* x, float* y, int cols) {
  const cg::cluster_group cluster = cg::this_cluster();
  const int row = blockIdx.x / size;
  const float largest = maximum_of_cluster<threads>(x + row * cols, cols);
  for (int c = cluster.block_rank() * threads + threadIdx.x; c < cols; c += 2 * size * threads)
    y[row * cols + c] = x[row * cols + c] - largest;
}

int main() {
  constexpr int rows = 3, cols = 1000;
  std::vector<float> x(rows * cols), y(rows * cols);
  for (int i = 0; i < rows * cols; i++) x[i] = i * 7919 % 4001;
  float *dx, *dy;
  cudaMalloc(&dx, x.size() * sizeof(float));
  cudaMalloc(&dy, x.size() * sizeof(float));
  cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  for (int which = 0; which < 3; which++) {
    cudaMemset(dy, 0, x.size() * sizeof(float));
    if (which == 0) by_number<<<rows * 4, threads>>>(dx, dy, cols);
    if (which == 1) by_template<1><<<dim3(rows, 2), threads>>>(dx, dy, cols);
    if (which == 2) by_template<3><<<dim3(rows * 3, 2), threads>>>(dx, dy, cols);
    if (cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess) {
      printf("FAIL: launch %d\n", which);
      return 1;
    }
    cudaMemcpy(y.data(), dy, x.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++) {
      float largest = -INFINITY;
      for (int c = 0; c < cols; c++) largest = fmaxf(largest, x[row * cols + c]);
      for (int c = 0; c < cols; c++) {
        if (y[row * cols + c] == x[row * cols + c] - largest) continue;
        printf("FAIL: launch %d, row %d, column %d\n", which, row, c);
        return 1;
      }
    }
  }
  // What a device with clusters refuses.
  by_number<<<rows * 4 + 1, threads>>>(dx, dy, cols);
  if (cudaGetLastError() == cudaSuccess) {
    printf("FAIL: 13 blocks in clusters of 4\n");
    return 1;
  }
  printf("PASS\n");
}
