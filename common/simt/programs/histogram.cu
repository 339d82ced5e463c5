// A histogram of 256 bins over 65536 bytes: straight into global memory, or each block into shared memory first.
// The data are i mod 256, so that the lanes of a warp meet 32 neighbouring bins. 16 blocks of 256 threads (8 warps); a
// thread takes every 4096th byte: 16 bytes.
//
// Figures by hand; 16 blocks x 8 warps = 128 warps.
//   Loads: 128 warps x 16, of 32 bytes: 1 sector.
// Expect: histogram_global 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 2048
// Expect: histogram_global 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2048
//   Atomics: one for each load, on 32 different words in a row: 4 sectors.
// Expect: histogram_global 1 l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 2048
// Expect: histogram_global 1 l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 8192
//   Through shared memory: the same atomics there, 32 lanes in 32 banks: no conflict.
// Expect: histogram_shared 1 shared_requests_op_atom 2048
// Expect: histogram_shared 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
//   Then one atomic a bin and block to global memory: 16 x 8 requests of 4 sectors.
// Expect: histogram_shared 1 l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 128
// Expect: histogram_shared 1 l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 512
//   Clearing the bins: 8 stores per block. Two barriers: 2 x 128.
// Expect: histogram_shared 1 shared_requests_op_st 128
// Expect: histogram_shared 1 barriers 256
//   The second launch counts bytes that are all equal: 32 lanes on one word, one after the other: 32 wavefronts.
// Expect: histogram_shared 2 l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 65536
// Expect: histogram_shared 2 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 63488
#include <cstdio>
#include <vector>

constexpr int bins = 256;
__device__ unsigned int totals[bins];

__global__ void histogram_global(const unsigned char* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&totals[data[i]], 1u);
}

__global__ void histogram_shared(const unsigned char* data, int n) {
  __shared__ unsigned int counts[bins];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[data[i]], 1u);
  __syncthreads();
  atomicAdd(&totals[threadIdx.x], counts[threadIdx.x]);
}

int main() {
  constexpr int n = 65536, blocks = 16;
  unsigned char* device;
  cudaMalloc(&device, n);
  bool right = true;
  for (int run = 0; run < 3; run++) {
    std::vector<unsigned char> data(n);
    std::vector<unsigned int> expected(bins), counted(bins);
    for (int i = 0; i < n; i++) expected[data[i] = static_cast<unsigned char>(run == 2 ? 7 : i)]++;
    cudaMemcpy(device, data.data(), n, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(totals, counted.data(), sizeof totals);
    if (run == 0) {
      histogram_global<<<blocks, bins>>>(device, n);
    } else {
      histogram_shared<<<blocks, bins>>>(device, n);
    }
    cudaMemcpyFromSymbol(counted.data(), totals, sizeof totals);
    int wrong = 0;
    for (int bin = 0; bin < bins; bin++) wrong += counted[bin] != expected[bin];
    std::printf("run %d: %d of %d bins wrong\n", run, wrong, bins);
    right &= wrong == 0;
  }
  right &= cudaGetLastError() == cudaSuccess;
  cudaFree(device);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
