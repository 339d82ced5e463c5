// The checks on cooperative launches, whose blocks wait for each other in grid.sync(). Each mistake has a kernel that
// makes it and one that is near to it and right.
#include <cooperative_groups.h>

#include "checks/shadow.h"
#include "checks/test_checks.h"

namespace {

void sync_grid() { cooperative_groups::this_grid().sync(); }

// Each block reads what the next one wrote.
template <bool sync>
__global__ void from_the_next_block(int* values, int* sums) {
  const unsigned next = (blockIdx.x + 1) % gridDim.x;
  values[blockIdx.x * n + threadIdx.x] = 1;
  if (sync) sync_grid();
  sums[blockIdx.x * n + threadIdx.x] = values[next * n + threadIdx.x];  // of the next block
}

// What a thread has read, another one of its block writes after grid.sync(), which is a barrier of the block, too.
template <bool sync>
__global__ void in_one_block(int* values, int* sums) {
  sums[threadIdx.x] = values[n - 1 - threadIdx.x];
  if (sync) sync_grid();
  values[threadIdx.x] = 2;
}

// Shared memory keeps across grid.sync() what its own block wrote, and no more.
template <int filled>
__global__ void keeps_shared(int*, int* sums) {
  __shared__ int own[n];
  extern __shared__ int mine[];
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0 || t < filled) own[t] = mine[t] = static_cast<int>(blockIdx.x);
  sync_grid();
  sums[blockIdx.x * n + t] = own[t] + mine[t];  // across the barrier
}

__global__ void one_block_keeps_shared(int*, int* sums) {
  extern __shared__ int mine[];
  if (blockIdx.x == 0) mine[threadIdx.x] = 1;
  sync_grid();
  if (blockIdx.x == 0) sums[threadIdx.x] = mine[threadIdx.x];
}

template <int past>
__global__ void past_shared(int*, int* sums) {
  __shared__ int own[n];
  own[threadIdx.x] = 1;
  sync_grid();
  sums[blockIdx.x * n + threadIdx.x] = own[threadIdx.x + past];  // past its end
}

// Threads come to two different barriers.
__global__ void two_barriers(int*, int*) {
  if (threadIdx.x < n / 2)
    sync_grid();
  else
    cooperative_groups::this_grid().sync();
}

template <typename Kernel>
std::string of(Kernel kernel, int blocks) {
  return finding([&] {
    int *values = device(std::vector<int>(blocks * n)), *sums = device(std::vector<int>(blocks * n));
    void* arguments[] = {&values, &sums};
    cudaLaunchCooperativeKernel(kernel, blocks, n, arguments, n * sizeof(int));
  });
}

}  // namespace

TEST_CASE("grid.sync() orders what all blocks do, and only what was before it") {
  CHECK(of(from_the_next_block<true>, 3).empty());
  const std::string text = of(from_the_next_block<false>, 3);
  HAS(text, "racecheck: race in global memory");
  HAS(text, AT("// of the next block"));
  CHECK(of(in_one_block<true>, 1).empty());
  HAS(of(in_one_block<false>, 1), "racecheck: race in global memory");
}

TEST_CASE("shared memory across grid.sync() is the block's own") {
  CHECK(of(keeps_shared<n>, 3).empty());
  CHECK(of(one_block_keeps_shared, 3).empty());
  const std::string text = of(keeps_shared<n - 1>, 3);
  HAS(text, "initcheck: uninitialised shared memory in block (1,0,0), thread (63,0,0)");
  HAS(text, AT("// across the barrier"));
}

TEST_CASE("a cooperative kernel's accesses are checked before and after grid.sync()") {
  CHECK(of(past_shared<0>, 2).empty());
  const std::string text = of(past_shared<20000>, 2);
  HAS(text, "memcheck: out of bounds in shared memory in block (0,0,0), thread (");
  HAS(text, AT("// past its end"));
}

TEST_CASE("what has been written is restored in its range, and nowhere else") {
  simt::checks::Shadow shadow;
  constexpr uintptr_t begin = 0x10000 + 40, bytes = 2 * simt::checks::Page::bytes;
  shadow.set_written(begin, bytes, true);
  const auto before = shadow.written(begin, bytes);
  shadow.set_written(begin - 40, bytes + 80, false);
  shadow.set_written(begin - 8, 8, true);
  shadow.set_written(begin + bytes, 8, true);
  shadow.restore_written(begin, bytes, before);
  const auto is_written = [&](uintptr_t address) {
    const size_t offset = address % simt::checks::Page::bytes;
    return shadow.page(address).first_unwritten(offset, 1) == simt::checks::Page::bytes;
  };
  CHECK(is_written(begin - 8));
  CHECK_FALSE(is_written(begin - 9));
  CHECK(is_written(begin));
  CHECK(is_written(begin + bytes - 1));
  CHECK(is_written(begin + bytes));
  CHECK_FALSE(is_written(begin + bytes + 8));
}

TEST_CASE("grid.sync() in two branches is no barrier") { HAS(of(two_barriers, 2), "synccheck: divergent barrier"); }
