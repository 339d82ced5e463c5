// Blocks that take turns by atomics: each draws as often from a queue as any other, on any number of cores.
#include <cooperative_groups.h>

#include "counters/test_kernels.h"
#include "simt.h"

using simt::counters::Launch;

namespace {

constexpr int rows = 40, cols = 64;

class InTurns {
 public:
  InTurns() { simt::run_blocks_in_turns(true); }
  ~InTurns() { simt::run_blocks_in_turns(false); }
};

__global__ void blocks_draw(const float* in, float* out, int* next, bool first_alone) {
  __shared__ int drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(next + 1, 1);
  __syncthreads();
  if (first_alone && drawn > 0) return;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
    __syncthreads();
    const int row = drawn;
    if (row >= rows) return;
    out[row * cols + threadIdx.x] = 1 + in[row * cols + threadIdx.x];
  }
}

__global__ void warps_draw(const float* in, float* out, int* next) {
  const int lane = threadIdx.x % 32;
  for (;;) {
    const int drawn = lane == 0 ? atomicAdd(next, 1) : 0, row = __shfl_sync(0xffffffffu, drawn, 0);
    if (row >= rows) return;
    for (int c = lane; c < cols; c += 32) out[row * cols + c] = 1 + in[row * cols + c];
  }
}

// The first thread of a cluster draws for all of it.
__global__ void __cluster_dims__(2, 1, 1) clusters_draw(const float* in, float* out, int* next) {
  __shared__ int drawn;
  const auto cluster = cooperative_groups::this_cluster();
  for (;;) {
    if (cluster.thread_rank() == 0) drawn = atomicAdd(next, 1);
    cluster.sync();
    const int row = *cluster.map_shared_rank(&drawn, 0);
    cluster.sync();
    if (row >= rows) return;
    const int c = cluster.thread_rank();
    out[row * cols + c] = 1 + in[row * cols + c];
  }
}

// A block is done when the one after it has begun, as on a GPU, where both are there.
__global__ void waits_for_the_next(volatile int* begun, int* sum) {
  if (threadIdx.x > 0) return;
  begun[blockIdx.x] = 1;
  while (blockIdx.x + 1 < gridDim.x && !begun[blockIdx.x + 1]) continue;
  atomicAdd(sum, 1);
}

__global__ void lock(int* taken, int* sum) {
  while (threadIdx.x == 0 && atomicCAS(taken, 0, 1)) continue;
  if (threadIdx.x > 0) return;
  const int before = atomicAdd(sum, 0);
  atomicExch(sum, before + 1);
  atomicExch(taken, 0);
}

struct Drawn {
  DeviceArray<float> in{rows * cols}, out{rows * cols};
  DeviceArray<int> next{2};
  bool all() const { return out.host() == std::vector<float>(rows * cols, 1.0f); }
};

}  // namespace

TEST_CASE("blocks that take turns share the rows of a queue, which otherwise the first draws alone") {
  const auto working = [](unsigned blocks, bool first_alone) {
    Drawn a;
    const Launch launch =
        count_launch([&] { blocks_draw<<<blocks, cols>>>(a.in.data(), a.out.data(), a.next.data(), first_alone); });
    CHECK(a.all());
    return launch.working_blocks;
  };
  CHECK(working(rows, false) == 1);
  const InTurns in_turns;
  CHECK(working(rows, false) == rows);
  CHECK(working(rows / 4, false) == rows / 4);
  CHECK(working(10 * rows, false) == rows);  // more than are resident
  CHECK(working(rows, true) == 1);
}

TEST_CASE("clusters that take turns share the rows of a queue") {
  const auto working = [](unsigned blocks) {
    Drawn a;
    const Launch launch =
        count_launch([&] { clusters_draw<<<blocks, cols / 2>>>(a.in.data(), a.out.data(), a.next.data()); });
    CHECK(a.all());
    return launch.working_blocks;
  };
  CHECK(working(2 * rows) == 2);
  const InTurns in_turns;
  CHECK(working(2 * rows) == 2 * rows);
  CHECK(working(rows / 2) == rows / 2);
  CHECK(working(20 * rows) == 2 * rows);  // more than are resident
}

TEST_CASE("warps that take turns share the rows of a queue") {
  const auto busiest = [] {
    Drawn a;
    const Launch launch = count_launch([&] { warps_draw<<<5, 256>>>(a.in.data(), a.out.data(), a.next.data()); });
    CHECK(a.all());
    CHECK(launch.total.global[0].requests == rows * cols / 32);
    return launch.busiest_warp.bytes;
  };
  CHECK(busiest() == rows * cols * sizeof(float));
  const InTurns in_turns;
  CHECK(busiest() == cols * sizeof(float));
}

TEST_CASE("blocks that take turns may wait for each other") {
  const InTurns in_turns;
  DeviceArray<int> begun(16), sum(1), taken(1);
  count_launch([&] { waits_for_the_next<<<16, 32>>>(begun.data(), sum.data()); });
  CHECK(sum.host()[0] == 16);
  count_launch([&] { lock<<<16, 32>>>(taken.data(), sum.data()); });
  CHECK(sum.host()[0] == 32);
}
