// Transposes a matrix three ways: straight, through a tile in shared memory, and through a tile whose rows are one
// longer. 512 x 512 floats, tiles of 32 x 32, blocks of 32 x 8 threads: 256 blocks of 8 warps, 4 rows per thread.
//
// Figures by hand; the same were read from an H200.
//   Loads: 512 x 512 / 32 = 8192 warp rows of 128 bytes, 4 sectors each.
// Expect: transpose_naive 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 8192
// Expect: transpose_naive 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32768
//   Naive stores: each lane in a row of its own, 32 sectors: 8192 x 32.
// Expect: transpose_naive 1 l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 8192
// Expect: transpose_naive 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 262144
//   Through a tile: whole rows again, 8192 x 4.
// Expect: transpose_tile 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32768
// Expect: transpose_tile 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 32768
//   Reading a column of the tile: 32 lanes 32 words apart, one bank: 32 wavefronts, 31 of them conflicts: 8192 x 32,
//   x 31.
// Expect: transpose_tile 1 l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 262144
// Expect: transpose_tile 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 253952
// Expect: transpose_tile 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0
//   Rows of 33 words: a column lies in 32 banks.
// Expect: transpose_padded 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 32768
// Expect: transpose_padded 1 l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 8192
// Expect: transpose_padded 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
//   One barrier: 256 blocks x 8 warps.
// Expect: transpose_padded 1 barriers 2048
#include <cstdio>
#include <vector>

constexpr int tile_size = 32, block_rows = 8;

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += block_rows) out[x * n + y + j] = in[(y + j) * n + x];
}

template <int padding>
__device__ void transpose_through_tile(const float* in, float* out, int n) {
  __shared__ float tile[tile_size][tile_size + padding];
  int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += block_rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * tile_size + threadIdx.x;
  y = blockIdx.x * tile_size + threadIdx.y;
  for (int j = 0; j < tile_size; j += block_rows) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_tile(const float* in, float* out, int n) { transpose_through_tile<0>(in, out, n); }
__global__ void transpose_padded(const float* in, float* out, int n) { transpose_through_tile<1>(in, out, n); }

int main() {
  constexpr int n = 512;
  constexpr size_t bytes = sizeof(float) * n * n;
  std::vector<float> matrix(n * n), result(n * n);
  for (int i = 0; i < n * n; i++) matrix[i] = static_cast<float>(i);

  float *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice);

  const dim3 grid(n / tile_size, n / tile_size), block(tile_size, block_rows);
  bool right = true;
  for (int kernel = 0; kernel < 3; kernel++) {
    cudaMemset(out, 0, bytes);
    if (kernel == 0) transpose_naive<<<grid, block>>>(in, out, n);
    if (kernel == 1) transpose_tile<<<grid, block>>>(in, out, n);
    if (kernel == 2) transpose_padded<<<grid, block>>>(in, out, n);
    cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < n; y++) {
      for (int x = 0; x < n; x++) wrong += result[y * n + x] != matrix[x * n + y];
    }
    std::printf("kernel %d: %d of %d elements wrong\n", kernel, wrong, n * n);
    right &= wrong == 0;
  }
  right &= cudaGetLastError() == cudaSuccess;
  cudaFree(in);
  cudaFree(out);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
