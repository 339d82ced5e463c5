// synccheck, and which finding is told where one follows from another. Each mistake has a kernel that makes it and one
// that is near to it and right.
#include "checks/test_checks.h"

namespace {

// Threads that do not fold run on to another barrier, and read what is not there yet.
__global__ void barrier_for_some(float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = 1.0f;
  __syncthreads();
  if (threadIdx.x < 32) {
    row[threadIdx.x] += row[threadIdx.x + 32];
    __syncthreads();
  }
  const float all = row[0];
  __syncthreads();
  y[threadIdx.x] = all;
}

// The second warp reads, without a barrier, where it is to write.
__global__ void index_from_a_race(float* y) {
  __shared__ int index[n];
  index[threadIdx.x] = 1 << 20;
  if (threadIdx.x >= 32) y[index[threadIdx.x - 32]] = 1.0f;
}

__global__ void trap_after_a_race(float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = 1.0f;
  y[threadIdx.x] = row[n - 1 - threadIdx.x];
  __syncthreads();
  __trap();
}

__global__ void barrier_in_a_branch(float* y) {
  if (threadIdx.x < 32) {
    y[threadIdx.x] = 1.0f;
    __syncthreads();
  } else {
    y[threadIdx.x] = 2.0f;
    __syncthreads();
  }
}

__global__ void caller_outside_mask(float* y) { y[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 0); }

__global__ void source_outside_mask(float* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_down_sync(0x0000ffffu, 1.0f, 8);
}

}  // namespace

TEST_CASE("a barrier that only some threads reach comes before the race that follows from it") {
  const std::string text = finding([] { barrier_for_some<<<1, n>>>(floats()); });
  HAS(text, "synccheck: divergent barrier");
}

TEST_CASE("a race comes before the wrong address or the crash that follows from it") {
  HAS(finding([] { index_from_a_race<<<1, n>>>(floats()); }), "racecheck: race in shared memory");
  const ChildResult trap = run_in_child([] {
    simt::install_signal_handlers();
    simt::checks::start();
    trap_after_a_race<<<1, n>>>(floats());
    _exit(0);
  });
  HAS(trap.text, "racecheck: race in shared memory");
}

TEST_CASE("synccheck") {
  std::string text = finding([] { barrier_in_a_branch<<<1, n>>>(floats()); });
  HAS(text, "synccheck: divergent barrier");
  HAS(text, "32 threads, thread (0,0,0) first, came to __syncthreads at ");
  HAS(finding([] { caller_outside_mask<<<1, 32>>>(floats()); }), "synccheck: caller outside the mask");
  text = finding([] { source_outside_mask<<<1, 32>>>(floats()); });
  HAS(text, "synccheck: shuffle from a lane outside the mask");
  HAS(text, AT("__shfl_down_sync(0x0000ffffu"));
}
