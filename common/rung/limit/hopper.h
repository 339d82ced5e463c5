// Lab 06, given: Hopper's means for short kernels: clusters, early starts, the copy engine.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

// Compiled out before compute capability 9.0 and on the CPU: there a cluster is one block, each thread copies what it
// will use itself, and a kernel starts when the one before has ended.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ int cluster_blocks() { return cooperative_groups::this_cluster().num_blocks(); }
__device__ int cluster_rank() { return cooperative_groups::this_cluster().block_rank(); }
__device__ void cluster_arrive() { cooperative_groups::this_cluster().barrier_arrive(); }
__device__ void cluster_wait() { cooperative_groups::this_cluster().barrier_wait(); }
// The same variable in the shared memory of another block of the cluster.
template <typename V>
__device__ V* in_block(V* shared, int rank) {
  return cooperative_groups::this_cluster().map_shared_rank(shared, rank);
}
// Our blocks may start while the kernel before still runs (launch() asks for that). This waits for its results, and
// lets the kernel after ours start early, too.
__device__ void wait_for_kernel_before() {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}
// A copy to shared memory by the copy engine. The barrier `done` counts its bytes, and changes from one phase, 0 or 1,
// to the other when they have arrived. One thread calls begin, all call fetch, all may wait.
__device__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void begin_barrier(unsigned long long* done) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(done)) : "memory");
}
__device__ void barriers_begun() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void expect(unsigned long long* done, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(done)), "r"(bytes)
               : "memory");
}
__device__ void fetch(uint4* to, const uint4* from, int packs, unsigned long long* done) {
  if (threadIdx.x != 0) return;
  expect(done, 16 * packs);
  if (packs == 0) return;
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(16 * packs), "r"(shared_address(done))
               : "memory");
}
__device__ void wait_for(unsigned long long* done) {
  for (unsigned over = 0; !over;)
    asm volatile("{.reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                 : "=r"(over)
                 : "r"(shared_address(done)), "r"(0)
                 : "memory");
}
// Blocks of a cluster tell each other values. All threads call begin_exchange() at the start: the barrier `arrived`
// will count the `bytes` that all blocks send to this one. Before it sends, a thread waits with cluster_wait() until
// all blocks have begun; after that a block waits for what arrives and for nothing else (wait_for(arrived)). A store
// and a barrier of the cluster would be two more trips between the blocks.
__device__ void begin_exchange(unsigned long long* arrived, int bytes) {
  if (threadIdx.x == 0) {
    begin_barrier(arrived);
    expect(arrived, bytes);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_arrive();
}
// To the variable `to` of block `rank` of the cluster, whose barrier `arrived` counts the bytes.
template <typename Value>
__device__ void send(const Value& value, Value* to, int rank, unsigned long long* arrived) {
  static_assert(sizeof(Value) % 4 == 0);
  const unsigned* words = reinterpret_cast<const unsigned*>(&value);
#pragma unroll
  for (unsigned i = 0; i < sizeof(Value) / 4; ++i) {
    asm volatile(
        "{.reg .u32 there, counted;\n mapa.shared::cluster.u32 there, %0, %3;\n mapa.shared::cluster.u32 counted, %1, "
        "%3;\n"
        " st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [there], %2, [counted];}" ::"r"(shared_address(to) +
                                                                                                    4 * i),
        "r"(shared_address(arrived)), "r"(words[i]), "r"(rank)
        : "memory");
  }
}
#else
__device__ int cluster_blocks() { return 1; }
__device__ int cluster_rank() { return 0; }
__device__ void cluster_arrive() {}
__device__ void cluster_wait() {}
template <typename V>
__device__ V* in_block(V* shared, int) {
  return shared;
}
__device__ void wait_for_kernel_before() {}
__device__ void begin_barrier(unsigned long long*) {}
__device__ void barriers_begun() {}
__device__ void begin_exchange(unsigned long long*, int) {}
template <typename Value>
__device__ void send(const Value&, Value*, int, unsigned long long*) {}
__device__ void fetch(uint4* to, const uint4* from, int packs, unsigned long long*) {
  for (int p = threadIdx.x; p < packs; p += blockDim.x) to[p] = from[p];
}
__device__ void wait_for(unsigned long long*) {}
#endif

// The row that this block is a part of, if each has `blocks` neighbouring ones, a power of two: to divide takes many
// instructions, before a thread has asked for anything.
__device__ size_t row_of_block(int blocks) { return blockIdx.x >> (__ffs(blocks) - 1); }

// The block's dynamic shared memory, from a multiple of 128 bytes on: elsewhere the copy engine is slower. On an H200
// rows of 50,257 floats took 2 % longer.
__device__ uint4* dynamic_shared() {
#ifdef __SIMT__
  return simt::DynamicShared();
#else
  extern __shared__ __align__(128) uint4 shared[];
  return shared;
#endif
}
