// C = A B of 128 x 128 floats: every thread reads its row and column from global memory, or a block shares tiles of 16
// x 16. Blocks of 16 x 16 threads: 8 x 8 blocks of 8 warps; a warp is two rows of 16 threads. 64 x 8 = 512 warps.
//
// Figures by hand.
//   Naive loads: 128 steps x 2 x 512 warps. Of A a warp reads one element in each of two rows: 2 sectors; of B 16
//   neighbouring elements, the same for both halves: 64 bytes, 2 sectors. 131072 x 2.
// Expect: matmul_naive 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 131072
// Expect: matmul_naive 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 262144
//   Stores: 512 warps, two rows of 64 bytes: 4 sectors.
// Expect: matmul_naive 1 l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 512
// Expect: matmul_naive 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 2048
//   Tiled: 8 tiles x 2 matrices x 512 warps, 4 sectors each: 1/16 of the requests, 1/8 of the sectors.
// Expect: matmul_tiled 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 8192
// Expect: matmul_tiled 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32768
// Expect: matmul_tiled 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 2048
//   Shared stores: as many as global loads; a warp writes two rows of 16 words that follow each other: no conflict.
// Expect: matmul_tiled 1 shared_requests_op_st 8192
// Expect: matmul_tiled 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0
//   Shared loads: 8 tiles x 512 warps x 20. The 16 A elements of a thread are neighbours, and nvcc loads four at a
//   time; those of B lie in 16 rows. The A elements of a warp are 16 words apart (2 banks), of B one row (16 banks): no
//   conflict.
// Expect: matmul_tiled 1 shared_requests_op_ld 81920
// Expect: matmul_tiled 1 l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
//   Barriers: 2 for each of 8 tiles, 512 warps.
// Expect: matmul_tiled 1 barriers 8192
//   Footprint: A and B once, C once: 65536 bytes are 2048 sectors.
// Expect: matmul_tiled 1 sectors_read 4096
// Expect: matmul_tiled 1 sectors_written 2048
#include <cmath>
#include <cstdio>
#include <vector>

template <int tile>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile], b_tile[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
  float sum = 0.0f;
  for (int at = 0; at < n; at += tile) {
    a_tile[y][x] = a[row * n + at + x];
    b_tile[y][x] = b[(at + y) * n + col];
    __syncthreads();
    for (int k = 0; k < tile; k++) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main() {
  constexpr int n = 128, tile = 16;
  constexpr size_t bytes = sizeof(float) * n * n;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = static_cast<float>(i % 7 - 3), b[i] = static_cast<float>(i % 5 - 2);

  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);

  const dim3 grid(n / tile, n / tile), block(tile, tile);
  bool right = true;
  for (const bool tiled : {false, true}) {
    cudaMemset(device_c, 0xff, bytes);
    if (tiled) {
      matmul_tiled<tile><<<grid, block>>>(device_a, device_b, device_c, n);
    } else {
      matmul_naive<<<grid, block>>>(device_a, device_b, device_c, n);
    }
    cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < n; row++) {
      for (int col = 0; col < n; col++) {
        float sum = 0.0f;  // of small integers: exact
        for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
        wrong += c[row * n + col] != sum;
      }
    }
    std::printf("%s: %d of %d elements wrong\n", tiled ? "tiled" : "naive", wrong, n * n);
    right &= wrong == 0;
  }
  right &= cudaGetLastError() == cudaSuccess;
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
