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

// Every warp operation on all lanes.
enum Operation { shfl, shfl_up, shfl_down, shfl_xor, ballot, any, all, match_any, match_all, add, max, bitwise, sync };
constexpr int operations = sync + 1;
const char* const names[operations] = {
    "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync", "__shfl_xor_sync",  "__ballot_sync",
    "__any_sync",        "__all_sync",        "__match_any_sync", "__match_all_sync", "__reduce_add_sync",
    "__reduce_max_sync", "__reduce_and_sync", "__syncwarp"};

__device__ unsigned operate(int operation, unsigned value) {
  constexpr unsigned mask = 0xffffffffu;
  int equal;
  switch (operation) {
    case shfl: return __shfl_sync(mask, value, (threadIdx.x + 16) % 32);
    case shfl_up: return __shfl_up_sync(mask, value, 31 - threadIdx.x % 24);
    case shfl_down: return __shfl_down_sync(mask, value, 16);
    case shfl_xor: return __shfl_xor_sync(mask, value, 16);
    case ballot: return __ballot_sync(mask, 1);
    case any: return __any_sync(mask, 1);
    case all: return __all_sync(mask, 1);
    case match_any: return __match_any_sync(mask, value);
    case match_all: return __match_all_sync(mask, value, &equal);
    case add: return __reduce_add_sync(mask, value);
    case max: return __reduce_max_sync(mask, value);
    case bitwise: return __reduce_and_sync(mask, value);
    default: __syncwarp(mask); return 0;
  }
}

// Lanes 24 to 31 (the first eight, where others read from below) have returned when the others operate.
__global__ void some_have_returned(unsigned* y, int operation) {
  const unsigned lane = threadIdx.x % 32;
  if (operation == shfl_up ? lane < 8 : lane >= 24) return;
  y[threadIdx.x] = operate(operation, 1);
}

// They wait in something else.
__global__ void some_wait_at_a_barrier(unsigned* y, int operation) {
  if (threadIdx.x % 32 < 24) y[threadIdx.x] = operate(operation, 1);
  __syncthreads();
}
__global__ void some_wait_for_a_part(unsigned* y, int operation) {
  if (threadIdx.x % 32 < 24)
    y[threadIdx.x] = operate(operation, 1);
  else if (threadIdx.x % 32 < 28)
    __syncwarp(0xff000000u);
  else
    __syncthreads();
}
// Both operations are complete, with lanes of both.
__global__ void some_have_gone_on(unsigned* y, int operation, int next) {
  if (threadIdx.x % 32 < 24)
    y[threadIdx.x] = operate(operation, 1);
  else
    y[threadIdx.x] = operate(next, 1);
}

// A loop that the last lanes leave one round before the others.
__global__ void shuffle_in_a_loop(const float* x, float* y, int count) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += 32) {
    float value = x[i];
    for (int delta = 16; delta > 0; delta /= 2) value += __shfl_xor_sync(0xffffffffu, value, delta);
    sum += value;
  }
  y[threadIdx.x] = sum;
}

// Right for whole warps.
__global__ void shuffle_of_all(unsigned* y) { y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, y[threadIdx.x], 16); }

unsigned* words() { return device(std::vector<unsigned>(n, 1)); }

}  // namespace

TEST_CASE("a shuffle that reads from a lane that has returned") {
  for (int operation = 0; operation < operations; operation++) {
    const std::string text = finding([&] { some_have_returned<<<1, n>>>(words(), operation); });
    INFO(names[operation]);
    if (operation > shfl_xor) {  // the mask may name lanes that have returned, and nobody asks for their values
      CHECK(text.empty());
      continue;
    }
    HAS(text, "synccheck: shuffle from a lane that has left");
    HAS(text, operation == shfl_up ? "reads lane 7, which has left, in " : "reads lane 24, which has left, in ");
    HAS(text, std::string(names[operation]) + " at ");
  }
  const std::string text = finding([] { shuffle_in_a_loop<<<1, 32>>>(floats(), floats(), 56); });
  HAS(text, "thread (8,0,0) reads lane 24, which has left, in __shfl_xor_sync at ");
  HAS(text, AT("value += __shfl_xor_sync"));
  CHECK(finding([] { shuffle_in_a_loop<<<1, 32>>>(floats(), floats(), 64); }).empty());
}

TEST_CASE("a shuffle that reads from a lane that the block does not have") {
  unsigned* const many = device(std::vector<unsigned>(64, 1));
  std::string text = finding([many] { shuffle_of_all<<<1, 48>>>(many); });
  HAS(text, "synccheck: shuffle from a lane that does not exist in block (0,0,0), thread (47,0,0)");
  HAS(text, "thread (47,0,0) reads lane 31 in __shfl_xor_sync at ");
  HAS(text, "but the block has 48 threads");
  HAS(text, AT("__shfl_xor_sync(0xffffffffu, y"));
  text = finding([many] { shuffle_of_all<<<32, 1>>>(many); });
  HAS(text, "but the block has 1 thread: ");
  CHECK(finding([many] { shuffle_of_all<<<1, 64>>>(many); }).empty());
}

TEST_CASE("a warp operation that waits for a lane that has left for something else") {
  for (int operation = 0; operation < operations; operation++) {
    const std::string waits = std::string("synccheck: ") + names[operation] + " waits for lane 24, which has left";
    std::string text = finding([&] { some_wait_at_a_barrier<<<1, n>>>(words(), operation); });
    HAS(text, waits);
    HAS(text, "for __syncthreads at ");
    text = finding([&] { some_wait_for_a_part<<<1, n>>>(words(), operation); });
    HAS(text, waits);
    HAS(text, "for __syncwarp at ");
  }
}

TEST_CASE("lanes of one mask come to different operations") {
  for (int operation = 0; operation < operations; operation++) {
    const int next = (operation + 1) % operations;
    const std::string text = finding([&] { some_have_gone_on<<<1, n>>>(words(), operation, next); });
    HAS(text, "synccheck: divergent warp operation");
    HAS(text, std::string("Lane 0 reached ") + names[operation]);
    HAS(text, std::string("but lane 24 went to ") + names[next]);
  }
  // The same operation at two lines is CUDA's.
  CHECK(finding([] { some_have_gone_on<<<1, n>>>(words(), ballot, ballot); }).empty());
}

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
  HAS(text, "32 threads, thread (0,0,0) first, reached __syncthreads at ");
  HAS(finding([] { caller_outside_mask<<<1, 32>>>(floats()); }), "synccheck: caller outside the mask");
  text = finding([] { source_outside_mask<<<1, 32>>>(floats()); });
  HAS(text, "synccheck: shuffle from a lane outside the mask");
  HAS(text, AT("__shfl_down_sync(0x0000ffffu"));
}
