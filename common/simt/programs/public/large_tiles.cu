// Sums with tiles of 64 to 512 threads: block_tile_memory, nested tiles, their own barriers, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

template <unsigned Size>
__global__ void sums(const int* in, int* out) {
  __shared__ cg::block_tile_memory<512> scratch;
  const auto block = cg::this_thread_block(scratch);
  const auto tile = cg::tiled_partition<Size>(block);
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  const int sum = cg::reduce(tile, value, cg::plus<int>());
  const int largest = cg::reduce(tile, value, [](int a, int b) { return a > b ? a : b; });
  const double wide = cg::reduce(tile, double(value), cg::plus<double>());
  if (tile.thread_rank() == 0) {
    const int at = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    out[at] = sum + 1000000 * largest + (wide != sum ? 7 : 0);
  }
}

// Each tile adds up its part of shared memory, with a barrier of the tile between the steps: the tiles are at different
// steps at the same time.
template <unsigned Size>
__global__ void trees(const int* in, int* out, int* scans) {
  __shared__ int part[512];
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const auto warp = cg::tiled_partition<32>(tile);
  int* const mine = part + tile.meta_group_rank() * Size;
  const int global = blockIdx.x * blockDim.x + threadIdx.x, rank = tile.thread_rank();
  for (int round = 0; round <= int(tile.meta_group_rank()); round++) {
    mine[rank] = in[global];
    tile.sync();
    for (int step = Size / 2; step > 0; step /= 2) {
      if (rank < step) mine[rank] += mine[rank + step];
      tile.sync();
    }
    const int total = mine[0];
    tile.sync();
    if (rank == 0) out[blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = total;
  }
  scans[global] = cg::exclusive_scan(tile, in[global], cg::plus<int>()) + tile.shfl(in[global], 3) +
                  10000 * int(warp.meta_group_rank()) + 100000 * int(warp.meta_group_size()) +
                  (tile.any(rank == 5) && !tile.all(rank < 5) ? 0 : 1);
}

int wrong = 0;

template <unsigned Size>
void run(const std::vector<int>& in, const int* device_in) {
  const int n = int(in.size()), tiles = n / int(Size);
  int *device_out, *device_scans;
  cudaMalloc(&device_out, tiles * sizeof(int));
  cudaMalloc(&device_scans, n * sizeof(int));
  std::vector<int> out(tiles), scans(n);
  for (int which = 0; which < 2; which++) {
    if (which == 0) {
      sums<Size><<<n / 512, 512>>>(device_in, device_out);
    } else {
      trees<Size><<<n / 512, 512>>>(device_in, device_out, device_scans);
      cudaMemcpy(scans.data(), device_scans, n * sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(out.data(), device_out, tiles * sizeof(int), cudaMemcpyDeviceToHost);
    for (int tile = 0; tile < tiles; tile++) {
      int sum = 0, largest = 0;
      for (int rank = 0; rank < int(Size); rank++) {
        const int at = tile * int(Size) + rank;
        const int expected = sum + in[tile * Size + 3] + 10000 * (rank / 32) + 100000 * int(Size / 32);
        if (which == 1) wrong += scans[at] != expected;
        sum += in[at];
        largest = in[at] > largest ? in[at] : largest;
      }
      wrong += out[tile] != (which == 0 ? sum + 1000000 * largest : sum);
    }
  }
  cudaFree(device_out);
  cudaFree(device_scans);
}

int main() {
  const int n = 1024;
  std::vector<int> in(n);
  for (int i = 0; i < n; i++) in[i] = i * 7919 % 31;
  int* device_in;
  cudaMalloc(&device_in, n * sizeof(int));
  cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  run<64>(in, device_in);
  run<128>(in, device_in);
  run<256>(in, device_in);
  run<512>(in, device_in);
  std::printf("%s\n", wrong || cudaGetLastError() ? "FAIL" : "PASS");
  return wrong != 0;
}
