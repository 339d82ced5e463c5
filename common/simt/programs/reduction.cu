// A sum in stages: every stage is a launch in which each block of 256 threads leaves one number, until one is left.
// Three kernels differ in which threads of the tree work and where: modulo (every second, fourth, ... thread),
// interleaved (neighbouring threads, elements 2s apart), sequential (neighbouring threads, neighbouring elements).
//
// 65536 integers: stage 1 has 256 blocks, stage 2 has 1. Figures of stage 1, by hand; a block has 8 warps.
//   Loads: 8 warps x 256 blocks, each 32 x 4 bytes = 4 sectors. Stores: thread 0 of each block, 1 sector.
// Expect: reduce_modulo 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 2048
// Expect: reduce_modulo 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 8192
// Expect: reduce_modulo 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 256
//   Barriers: 1 after the load and 1 after each of log2(256) = 8 steps, 8 warps each, 256 blocks: 9 x 8 x 256.
// Expect: reduce_modulo 1 barriers 18432
//   Shared stores, step s: the warps that hold a multiple of 2s: all 8 for s = 1..16, then 4, 2, 1: 47; 8 more for the
//   first store of each thread: 55 x 256. No two lanes of a warp share a bank: s <= 16 keeps them within 32 words.
// Expect: reduce_modulo 1 shared_requests_op_st 14080
// Expect: reduce_modulo 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0
//   Interleaved, step s: 128 / s threads work: 4, 2, 1, 1, 1, 1, 1, 1 warps (12), plus 8: 20 x 256 stores.
// Expect: reduce_interleaved 1 shared_requests_op_st 5120
//   Lanes 2s words apart. s = 1: 4 warps of 32 lanes, 2 to a bank, conflict 1 each: 4. s = 2: 2 warps, 4 to a bank: 2
//   x 3. s = 4: 1 warp of 32 lanes, 8 to a bank: 7. s = 8: 16 lanes 16 apart, 8 to a bank: 7. s = 16: 8 lanes 32
//   apart: 7. s = 32: 4 lanes: 3. s = 64: 2 lanes: 1. s = 128: 0. Sum 35 per block.
// Expect: reduce_interleaved 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 8960
// Expect: reduce_interleaved 1 l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum 14080
//   Sequential: the same number of stores (4, 2, 1, 1, 1, 1, 1, 1 warps), neighbouring words: no conflicts.
// Expect: reduce_sequential 1 shared_requests_op_st 5120
// Expect: reduce_sequential 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0
// Expect: reduce_sequential 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
//   Stage 2: one block reads 256 numbers.
// Expect: reduce_sequential 2 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32
#include <cstdio>
#include <vector>

constexpr int block_threads = 256;

__global__ void reduce_modulo(const int* in, int* out, int n) {
  __shared__ int part[block_threads];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  part[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

__global__ void reduce_interleaved(const int* in, int* out, int n) {
  __shared__ int part[block_threads];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  part[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned at = 2 * s * tid;
    if (at < blockDim.x) part[at] += part[at + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

__global__ void reduce_sequential(const int* in, int* out, int n) {
  extern __shared__ int part[];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  part[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

// Launches with the kernel's own name, so that a profile shows it.
#define STAGE(kernel, in, out, n) \
  kernel<<<((n) + block_threads - 1) / block_threads, block_threads, block_threads * sizeof(int)>>>(in, out, n)

int main() {
  constexpr int n = 65536;
  std::vector<int> numbers(n);
  long long expected = 0;
  for (int i = 0; i < n; i++) expected += numbers[i] = i % 1000 - 300;

  int *in, *first, *second;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&first, n / block_threads * sizeof(int));
  cudaMalloc(&second, sizeof(int));
  cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  bool right = true;
  for (int kernel = 0; kernel < 3; kernel++) {
    const int left = n / block_threads;
    if (kernel == 0) {
      STAGE(reduce_modulo, in, first, n);
      STAGE(reduce_modulo, first, second, left);
    } else if (kernel == 1) {
      STAGE(reduce_interleaved, in, first, n);
      STAGE(reduce_interleaved, first, second, left);
    } else {
      STAGE(reduce_sequential, in, first, n);
      STAGE(reduce_sequential, first, second, left);
    }
    int sum = 0;
    cudaMemcpy(&sum, second, sizeof(int), cudaMemcpyDeviceToHost);
    right &= sum == expected;
    std::printf("sum %d, expected %lld\n", sum, expected);
  }
  right &= cudaGetLastError() == cudaSuccess;
  cudaFree(in);
  cudaFree(first);
  cudaFree(second);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
