// An inclusive scan of 16384 integers with cooperative groups: a warp scans by shuffles, a block adds the sums of its
// warps, a second launch scans the sums of the blocks, a third adds them. 64 blocks of 256 threads: 512 warps.
//
// Figures by hand.
//   scan_blocks loads 4 bytes per lane: 512 warps x 4 sectors, stores as many, and one sum per block.
// Expect: scan_blocks 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 512
// Expect: scan_blocks 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2048
// Expect: scan_blocks 1 l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 576
// Expect: scan_blocks 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 2112
//   Shuffles: log2(32) = 5 for every warp, 5 more for the first warp of a block: 5 x 512 + 5 x 64.
// Expect: scan_blocks 1 warp_operations 2880
//   Two barriers: 2 x 512.
// Expect: scan_blocks 1 barriers 1024
//   Shared stores: one per warp, and one by the first warp of each block: 512 + 64.
// Expect: scan_blocks 1 shared_requests_op_st 576
//   The second launch scans 64 sums in one block of 256: 2 of its warps load and store 4 sectors each, 1 stores the
//   total.
// Expect: scan_blocks 2 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 2
// Expect: scan_blocks 2 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 9
//   add_sums, blocks 1 to 63: every warp reads its elements (4 sectors) and its block's one sum (1 sector): 504 x 5.
// Expect: add_sums 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 1008
// Expect: add_sums 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2520
// Expect: add_sums 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 2016
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int block_threads = 256, warp_threads = 32;

__device__ int scan_warp(const cg::thread_block_tile<warp_threads>& warp, int value) {
  for (unsigned step = 1; step < warp.size(); step *= 2) {
    const int before = warp.shfl_up(value, step);
    if (warp.thread_rank() >= step) value += before;
  }
  return value;
}

__global__ void scan_blocks(const int* in, int* out, int* block_sums, int n) {
  __shared__ int warp_sums[warp_threads];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<warp_threads> warp = cg::tiled_partition<warp_threads>(block);
  const int i = static_cast<int>(blockIdx.x * block.size() + block.thread_rank());
  const unsigned warps = block.size() / warp.size();

  int value = scan_warp(warp, i < n ? in[i] : 0);
  if (warp.thread_rank() == warp.size() - 1) warp_sums[warp.meta_group_rank()] = value;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    const int sum = scan_warp(warp, warp.thread_rank() < warps ? warp_sums[warp.thread_rank()] : 0);
    warp_sums[warp.thread_rank()] = sum;
  }
  block.sync();
  if (warp.meta_group_rank() > 0) value += warp_sums[warp.meta_group_rank() - 1];
  if (i < n) out[i] = value;
  if (block.thread_rank() == block.size() - 1) block_sums[blockIdx.x] = value;
}

__global__ void add_sums(int* data, const int* scanned_sums, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (blockIdx.x > 0 && i < n) data[i] += scanned_sums[blockIdx.x - 1];
}

int main() {
  constexpr int n = 16384, blocks = n / block_threads;
  std::vector<int> numbers(n), expected(n), result(n);
  for (int i = 0, sum = 0; i < n; i++) expected[i] = sum += numbers[i] = i % 13 - 4;

  int *in, *out, *sums, *scanned, *total;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&scanned, blocks * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  scan_blocks<<<blocks, block_threads>>>(in, out, sums, n);
  scan_blocks<<<1, block_threads>>>(sums, scanned, total, blocks);
  add_sums<<<blocks, block_threads>>>(out, scanned, n);

  cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += result[i] != expected[i];
  std::printf("%d of %d elements wrong; the last is %d\n", wrong, n, result[n - 1]);
  const bool right = wrong == 0 && cudaGetLastError() == cudaSuccess;
  cudaFree(in);
  cudaFree(out);
  cudaFree(sums);
  cudaFree(scanned);
  cudaFree(total);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
