// Lab 07, given: asynchronous copies to shared memory, the stages of a product, and the tensor cores.
#pragma once

#include <cooperative_groups.h>

#include "core.h"

// Waits for all blocks that work on a tile, by a barrier of the whole grid. On the CPU they are one.
__device__ void group_sync(int blocks) {
  if (blocks == 1)
    __syncthreads();
  else
    cooperative_groups::this_grid().sync();
}

// 16 bytes from global to shared memory, in flight while the thread continues; arrived() waits until at most `Left` of
// the groups that were closed by begun() are still in flight.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void copy_pack(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void begun() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Left>
__device__ void arrived() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
#else
__device__ void copy_pack(void* to, const void* from) { *static_cast<uint4*>(to) = *static_cast<const uint4*>(from); }
__device__ void begun() {}
template <int Left>
__device__ void arrived() {}
#endif

// A panel is a piece of a matrix in shared memory: `chunk` columns of some rows, with 16 bytes between two rows so that
// eight rows begin in different banks.
template <typename T, int Chunk>
constexpr int panel_width = Chunk + pack_size<T>;

// The sums of a warp: M x 8 tiles of 16 cores x 8 columns. Of a tile, lane l has rows l / 4 and l / 4 + 8, columns
// l % 4 * 2 and the next: sums[0], [1] of the first row, [2], [3] of the second.
template <int M>
using Sums = float[M][8][4];

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// Four matrices of 8 x 8 bf16 from shared memory; lane l gives the address of row l % 8 of matrix l / 8.
__device__ void load_matrices(unsigned (&to)[4], const bf16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}
// One product of the tensor cores: 16 x 8 sums += 16 x 16 times 16 x 8.
__device__ void tensor_product(float (&sums)[4], const unsigned (&a)[4], unsigned b_low, unsigned b_high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}
template <int M>
__device__ void multiply_on_tensor_cores(Sums<M>& sums, const bf16* a, const bf16* w, const bf16* w_second, int width) {
  const int lane = threadIdx.x % 32;
  // All operands first, so that they are in flight together.
  unsigned of_w[4][4], of_a[M][4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const bf16* const rows = (pair < 2 ? w : w_second) + pair % 2 * 16 * width;
    load_matrices(of_w[pair], rows + (lane / 16 * 8 + lane % 8) * width + lane / 8 % 2 * 8);
  }
#pragma unroll
  for (int m = 0; m < M; ++m)
    load_matrices(of_a[m], a + (m * 16 + lane / 8 % 2 * 8 + lane % 8) * width + lane / 16 * 8);
#pragma unroll
  for (int m = 0; m < M; ++m) {
#pragma unroll
    for (int j = 0; j < 8; ++j) tensor_product(sums[m][j], of_a[m], of_w[j / 2][j % 2 * 2], of_w[j / 2][j % 2 * 2 + 1]);
  }
}
#endif

// [begin, end) of `columns` in multiples of 32: the part of one of `blocks` blocks.
struct Part {
  int begin, end;
  __device__ Part(int columns, int rank, int blocks) {
    const int each = (columns / 32 + blocks - 1) / blocks * 32;
    begin = min(rank * each, columns);
    end = min(begin + each, columns);
  }
};

// Runs load(stage, i) ahead of use(stage, i), for i from 0 to chunks - 1, over the stages of shared memory.
template <int Stages, typename Load, typename Use>
__device__ void pipeline(int chunks, Load load, Use use) {
  __syncthreads();  // the data there before has been used
#pragma unroll
  for (int i = 0; i < Stages - 1; ++i) {
    if (i < chunks) load(i, i);
    begun();
  }
  for (int i = 0; i < chunks; ++i) {
    arrived<Stages - 2>();
    __syncthreads();  // chunk i is there for all, and the stage of chunk i - 1 is free
    const int ahead = i + Stages - 1;
    if (ahead < chunks) load(ahead % Stages, ahead);
    begun();
    use(i % Stages, i);
  }
}
