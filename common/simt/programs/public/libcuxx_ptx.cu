// Instructions by their names in cuda::ptx: a ring of tiles that one thread fills and the others empty, results written
// back in bulk, and what a thread asks about itself.
#include <cuda/ptx>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

namespace ptx = cuda::ptx;

constexpr int tiles = 5, stages = 2, width = 64;

__global__ void double_tiles(const float* in, float* out) {
  __shared__ alignas(16) float tile[stages][width];
  __shared__ uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; i++) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], width);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == width) {
    for (int t = 0; t < tiles; t++) {
      const int stage = t % stages;
      if (t >= stages)
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &empty[stage], (t / stages - 1) & 1)) {
        }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], sizeof tile[0]);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[stage], in + t * width, sizeof tile[0],
                         &full[stage]);
    }
  } else if (threadIdx.x < width) {
    for (int t = 0; t < tiles; t++) {
      while (!ptx::mbarrier_try_wait_parity(&full[t % stages], t / stages & 1)) {
      }
      out[t * width + threadIdx.x] = 2 * tile[t % stages][width - 1 - threadIdx.x];
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &empty[t % stages]);
    }
  }
}

__global__ void write_back(float* out, uint32_t* about) {
  __shared__ alignas(16) float tile[width];
  __shared__ uint64_t done;
  if (threadIdx.x == 0) ptx::mbarrier_init(&done, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = 3.0f * threadIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  const uint64_t phase = ptx::mbarrier_arrive(&done);
  if (threadIdx.x == 0) {
    while (!ptx::mbarrier_try_wait(&done, phase)) {
    }
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  if (threadIdx.x == 37) {
    about[0] = ptx::get_sreg_laneid();
    about[1] = ptx::get_sreg_lanemask_lt() ^ ptx::get_sreg_lanemask_ge();
    about[2] = ptx::get_sreg_ntid_x() + ptx::get_sreg_tid_x();
    about[3] = ptx::get_sreg_lanemask_le() + ptx::get_sreg_lanemask_gt() + ptx::get_sreg_lanemask_eq();
  }
}

int main() {
  float *in, *out;
  uint32_t* about;
  cudaMallocManaged(&in, tiles * width * sizeof(float));
  cudaMallocManaged(&out, tiles * width * sizeof(float));
  cudaMallocManaged(&about, 4 * sizeof(uint32_t));
  for (int i = 0; i < tiles * width; i++) in[i] = static_cast<float>(i);
  int wrong = 0;
  double_tiles<<<1, width + 32>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < tiles * width; i++) wrong += out[i] != 2 * in[i / width * width + width - 1 - i % width];
  write_back<<<1, width>>>(out, about);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < width; i++) wrong += out[i] != 3 * i;
  wrong += about[0] != 5 || about[1] != 0xffffffff || about[2] != width + 37 || about[3] != 31;
  printf("%s\n", wrong ? "FAIL" : "PASS");
}
