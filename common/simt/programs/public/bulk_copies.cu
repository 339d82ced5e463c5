// Copies that barriers in shared memory count: a ring of tiles by mbarrier and cp.async.bulk in PTX, with branches, and
// the same by cuda::barrier; results that blocks write in turn, behind a lock that waits for a count.
#include <cuda/barrier>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <utility>

constexpr int tiles = 6, stages = 2, width = 64, blocks = 4;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace bulk = cuda::device::experimental;

struct Ring {
  float tile[stages][width];
};

__device__ uint32_t address_of(const void* shared) { return static_cast<uint32_t>(__cvta_generic_to_shared(shared)); }

__device__ void wait_for(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\nbra.uni again_%=;\nover:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Warp 0 brings tiles, warp 1 adds them up.
__global__ void by_ptx(const float* in, float* out) {
  extern __shared__ __align__(128) unsigned char raw[];
  Ring& ring = reinterpret_cast<Ring&>(raw);
  __shared__ alignas(8) uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&full[i])), "r"(1));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&empty[i])), "r"(32));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  in += blockIdx.x * tiles * width;
  if (threadIdx.x == 0) {
    for (int t = 0; t < tiles; t++) {
      const int stage = t % stages;
      if (t >= stages) wait_for(address_of(&empty[stage]), (t / stages - 1) & 1);
      const uint32_t bar = address_of(&full[stage]), bytes = sizeof ring.tile[0];
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes));
      for (uint32_t part = 0; part < 2; part++)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         address_of(ring.tile[stage]) + part * bytes / 2),
                     "l"(in + t * width + part * width / 2), "r"(bytes / 2), "r"(bar)
                     : "memory");
    }
  } else if (threadIdx.x >= 32) {
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
      wait_for(address_of(&full[t % stages]), t / stages & 1);
      for (int i = threadIdx.x % 32; i < width; i += 32) sum += ring.tile[t % stages][i];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&empty[t % stages])) : "memory");
    }
    atomicAdd(&out[blockIdx.x], sum);
  }
}

__global__ void by_cuda_barrier(const float* in, float* out) {
  __shared__ alignas(16) float tile[width];
  __shared__ Barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    bulk::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    bulk::cp_async_bulk_global_to_shared(tile, in + blockIdx.x * width, sizeof tile, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  const float other = tile[width - 1 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = other;
  bulk::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk::cp_async_bulk_shared_to_global(out + blockIdx.x * width, tile, sizeof tile);
    bulk::cp_async_bulk_commit_group();
    bulk::cp_async_bulk_wait_group_read<0>();
  }
}

// A block waits until all before it have come; the last one makes the lock 0 again.
__global__ void in_turn(const float4* in, int* lock, float* out) {
  __shared__ float4 mine[32];
  const uint32_t to = address_of(&mine[threadIdx.x]);
  asm volatile(
      "{\n.reg .b64 p;\ncreatepolicy.fractional.L2::evict_first.b64 p, 1.0;\n"
      "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], %2, p;\n}" ::"r"(to),
      "l"(in + threadIdx.x), "n"(16));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    int count = -1;
    do asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(count) : "l"(lock));
    while (count != static_cast<int>(blockIdx.x));
    out[0] = 2 * out[0] + mine[31].x;
    if (blockIdx.x == gridDim.x - 1) {
      lock[0] = 0;
    } else {
      asm volatile("fence.acq_rel.gpu;");
      asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(lock), "r"(1) : "memory");
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 1)
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(out + 2), "f"(3.f), "f"(4.f) : "memory");
  uint16_t pair = 0;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(2.f), "f"(1.f));
  if (blockIdx.x == 0 && threadIdx.x == 2) out[1] = pair;
}

int main() {
  float *in, *sums, *turned;
  int* lock;
  cudaMallocManaged(&in, blocks * tiles * width * sizeof(float));
  cudaMallocManaged(&sums, 8 * sizeof(float));
  cudaMallocManaged(&turned, blocks * width * sizeof(float));
  cudaMallocManaged(&lock, sizeof(int));
  for (int i = 0; i < blocks * tiles * width; i++) in[i] = static_cast<float>(i % 31);
  for (int i = 0; i < 8; i++) sums[i] = 0;
  *lock = 0;

  by_ptx<<<blocks, 64, sizeof(Ring)>>>(in, sums);
  by_cuda_barrier<<<blocks, width>>>(in, turned);
  in_turn<<<blocks, 32>>>(reinterpret_cast<const float4*>(in), lock, sums + 4);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int b = 0; b < blocks; b++) {
    float sum = 0;
    for (int i = 0; i < tiles * width; i++) sum += in[b * tiles * width + i];
    wrong += sums[b] != sum;
    for (int i = 0; i < width; i++) wrong += turned[b * width + i] != in[b * width + width - 1 - i];
  }
  wrong += *lock != 0 || sums[4] != 15 * in[124] || sums[5] != 0x4038 || sums[6] != 3 || sums[7] != 4;
  printf("%s\n", wrong ? "FAIL" : "PASS");
}
