// Cooperative launches: grid.sync() orders all blocks, blocks keep their shared memory across it, and misuse is
// reported.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <string>

#include "simt.h"
#include "testing.h"
#include "testing_child.h"

namespace cg = cooperative_groups;

namespace {

// In every round each block reads what another block wrote in the round before.
__global__ void pass_on(int* values, int rounds) {
  extern __shared__ int mine[];
  __shared__ int own_block;
  cg::grid_group grid = cg::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  mine[threadIdx.x] = i;
  if (threadIdx.x == 0) own_block = blockIdx.x;
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    const int next = (i + blockDim.x) % static_cast<int>(grid.size());
    const int value = values[next];
    grid.sync();
    // What a block keeps in shared memory is its own, though others ran meanwhile.
    values[i] = value + (mine[threadIdx.x] == i && own_block == static_cast<int>(blockIdx.x) ? 1 : 1000);
    cg::sync(grid);
  }
}

__global__ void sum_of_squares(long long* total, int first, unsigned char step) {
  const long long number = first + step * static_cast<long long>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(number * number));
}

__global__ void odd_blocks_leave() {
  if (blockIdx.x % 2) return;
  cg::this_grid().sync();
}

__global__ void asks_whether_valid(int* out) { *out = cg::this_grid().is_valid(); }

template <typename Body>
std::string message_of(Body body) {
  const ChildResult child = run_in_child([&] {
    simt::install_signal_handlers();
    body();
    _exit(0);
  });
  INFO(child.text);
  REQUIRE(child.status == 134);
  return child.text;
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("grid.sync() orders all blocks, and shared memory survives it", "[cooperative]") {
  const auto [blocks, threads] = GENERATE(std::pair(1, 32), std::pair(7, 96), std::pair(40, 256), std::pair(264, 64));
  CAPTURE(blocks, threads);
  DeviceArray<int> values(blocks * threads);
  int* data = values.data();
  int rounds = 5;
  void* arguments[] = {&data, &rounds};
  for (int launch = 1; launch <= 2; launch++) {
    REQUIRE(cudaLaunchCooperativeKernel(pass_on, blocks, threads, arguments, threads * sizeof(int)) == cudaSuccess);
    REQUIRE(values.host() == std::vector<int>(blocks * threads, rounds * launch));
  }
}

TEST_CASE("a cooperative launch must fit on the device", "[cooperative]") {
  DeviceArray<int> values(1);
  int* data = values.data();
  int rounds = 0;
  void* arguments[] = {&data, &rounds};
  CHECK(cudaLaunchCooperativeKernel(pass_on, 265, 1024, arguments, 4096) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaLaunchCooperativeKernel(pass_on, 1, 1025, arguments) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("cudaLaunchKernel takes arguments by address", "[cooperative]") {
  DeviceArray<long long> total(1);
  long long* data = total.data();
  int first = 3;
  unsigned char step = 2;
  void* arguments[] = {&data, &first, &step};
  REQUIRE(cudaLaunchKernel(sum_of_squares, dim3(2), dim3(3), arguments, 0, nullptr) == cudaSuccess);
  CHECK(total.host()[0] == 9 + 25 + 49 + 81 + 121 + 169);
}

TEST_CASE("the grid says whether the launch was cooperative", "[cooperative]") {
  DeviceArray<int> valid(1, 7);
  asks_whether_valid<<<1, 1>>>(valid.data());
  CHECK(valid.host()[0] == 0);
  int* data = valid.data();
  void* arguments[] = {&data};
  REQUIRE(cudaLaunchCooperativeKernel(asks_whether_valid, 1, 1, arguments) == cudaSuccess);
  CHECK(valid.host()[0] == 1);
}

TEST_CASE("misuse of grid.sync() is reported with its line", "[cooperative]") {
  const std::string line = std::to_string(line_with(__FILE__, "cg::this_grid().sync();"));
  const std::string ordinary = message_of([] { odd_blocks_leave<<<1, 32>>>(); });
  CHECK(says(ordinary, "cudaLaunchCooperativeKernel()"));
  CHECK(says(ordinary, "test_cooperative.cu:" + line));
  const std::string left = message_of([] { cudaLaunchCooperativeKernel(odd_blocks_leave, 4, 32, nullptr); });
  CHECK(says(left, "other blocks of the grid have returned"));
  CHECK(says(left, "test_cooperative.cu:" + line));
}
