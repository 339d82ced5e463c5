// How accesses are put together to warp instructions when the lanes of a warp go different ways. x has the form
// (many, 32): a warp that reads a row of it together needs one request and 4 sectors.
#include "counters/test_kernels.h"
#include "timing/predictor.h"

namespace {

__global__ void trip_counts(const float* x, float* y) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < lane; i++) sum += x[i * 32 + lane];
  y[lane] = sum;
}

// rows: large enough that lanes run ahead further than the log is long.
__global__ void nested(const float* x, float* y, int rows) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < (lane + r) % 4; c++) sum += x[c * 32 + lane];
    sum += y[lane];
  }
  y[32 + lane] = sum;
}

// The lanes that return have left traces in the log, which must not be taken for later accesses.
__global__ void early_return(const float* x, float* y) {
  for (int i = 0; i < 100; i++) y[threadIdx.x] = x[threadIdx.x + 32 * i];
  if (threadIdx.x < 8) return;
  for (int i = 0; i < 100; i++) y[threadIdx.x] = x[threadIdx.x + 32 * i];
}

__global__ void two_branches_on_a_line(const float* x, float* y) {
  float v;
  // clang-format off
  if (threadIdx.x % 2) v = x[threadIdx.x] * 2; else v = y[threadIdx.x] + 1;
  y[32 + threadIdx.x] = v;
  // clang-format on
}

// In every round half of the lanes take each branch; the halves change places.
__global__ void branches_in_a_loop(const float* x, float* y) {
  float sum = 0;
  for (int i = 0; i < 300; i++) {
    if ((i + threadIdx.x) % 2) {
      sum += x[threadIdx.x];
    } else {
      sum -= y[threadIdx.x];
    }
  }
  y[32 + threadIdx.x] = sum;
}

__attribute__((noinline)) __device__ float sum_of(const float* x, int count) {
  float sum = 0;
  for (int i = 0; i < count; i++) sum += x[i * 32 + threadIdx.x];
  return sum;
}

// All lanes call it together, though half of them read something before.
__global__ void call_together(const float* x, float* y) {
  float before = 0;
  if (threadIdx.x % 2) before = x[threadIdx.x];
  y[threadIdx.x] = sum_of(x, 3) + before;
}

__global__ void call_from_two_places(const float* x, float* y) {
  float sum;
  if (threadIdx.x < 16) {
    sum = sum_of(x, 3);
  } else {
    sum = 2 * sum_of(x + 32, 5);
  }
  y[threadIdx.x] = sum;
}

__global__ void leave_and_continue(const float* x, float* y) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 8; i++) {
    if ((i + lane) % 2) continue;
    sum += x[i * 32 + lane];
    if (i >= lane / 4) break;
    sum += y[lane];
  }
  y[32 + lane] = sum;
}

// From one place some lanes go back to the inner loop's beginning and others to the outer one's.
__global__ void back_to_two_loops(const float* x, float* y) {
  const int lane = threadIdx.x;
  float sum = 0;
  int left = 90 + lane;
  while (true) {
    sum += y[lane];
    do {
      sum += x[left % 4 * 32 + lane];
      if (--left <= 0) {
        y[32 + lane] = sum;
        return;
      }
    } while (left % 3);
  }
}

__global__ void one_lane_works(const float* x, float* y) {
  float sum = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 1000; i++) sum += x[i];
  }
  y[threadIdx.x] = sum;
}

__global__ void half_warps(float* y) {
  __shared__ float s[32];
  const int lane = threadIdx.x;
  if (lane < 16) {
    s[lane] = 1;
    __syncwarp(0xffff);
    s[lane ^ 1] += 1;
  }
  y[lane] = 2;
}

__global__ void spin_lock(int* lock, int* count, const float* x, float* y) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      for (int i = 0; i < 200; i++) y[i] = x[i];
      *count += 1;
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__global__ void atomic_adds(int* sums) {
  __shared__ int counts[32];
  counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[threadIdx.x % 4], 1);
  __syncthreads();
  atomicAdd(&sums[threadIdx.x % 8], counts[threadIdx.x]);
}

struct Three {
  float x, y, z;
};
__global__ void copy_structs(const Three* x, Three* y) { y[threadIdx.x] = x[threadIdx.x]; }

template <typename Kernel>
simt::counters::Launch count_warp(Kernel kernel) {
  DeviceArray<float> x(32 * 101), y(64 + 200);
  return count_launch([&] { kernel<<<1, 32>>>(x.data(), y.data()); });
}

// In every round the warp falls into other groups, each of which counts its lanes and their rounds.
__global__ void changing_groups(const float* x, int* wrong) {
  const unsigned lane = threadIdx.x;
  for (unsigned round = 0; round < 2000; round++) {
    const unsigned label = (lane * 7 + round) % (1 + round % 5);
    const unsigned group = __match_any_sync(0xffffffff, label + (x[lane] > 1e30f));
    unsigned expected = 0;
    for (unsigned other = 0; other < 32; other++) expected |= ((other * 7 + round) % (1 + round % 5) == label) << other;
    const unsigned first = __shfl_sync(group, lane, __ffs(group) - 1),
                   rounds = __shfl_sync(group, round, __ffs(group) - 1);
    if (group != expected || first != __ffs(expected) - 1u || rounds != round) atomicAdd(wrong, 1);
  }
}

}  // namespace

TEST_CASE("loops whose trip count differs between lanes") {
  const auto launch = count_warp(trip_counts);
  // Round i has lanes i + 1 to 31. With 8 lanes per sector: 4 sectors while lanes 1 to 7 begin, 7 times, then 3, 2 and
  // 1, 8 times each.
  CHECK(loads(launch.total) == Pair(31, 7 * 4 + 8 * 3 + 8 * 2 + 8 * 1));
  CHECK(stores(launch.total) == Pair(1, 4));
}

TEST_CASE("nested loops whose inner trip count depends on the lane") {
  DeviceArray<float> x(32 * 4), y(64);
  for (const int rows : {1, 5, 1000}) {
    CAPTURE(rows);
    const auto launch = count_launch([&] { nested<<<1, 32>>>(x.data(), y.data(), rows); });
    // In every row of the outer loop some lane makes three rounds of the inner one, and every sector has such a lane.
    CHECK(loads(launch.total) == Pair(4 * rows, 16 * rows));
    CHECK(stores(launch.total) == Pair(1, 4));
  }
}

TEST_CASE("lanes that return early") {
  const auto launch = count_warp(early_return);
  CHECK(loads(launch.total) == Pair(100 + 100, 400 + 300));
  CHECK(stores(launch.total) == Pair(100 + 100, 400 + 300));
}

TEST_CASE("both sides of a branch on one line") {
  const auto launch = count_warp(two_branches_on_a_line);
  CHECK(loads(launch.total) == Pair(2, 8));
  CHECK(stores(launch.total) == Pair(1, 4));
  REQUIRE(launch.lines.size() == 2);
  CHECK(loads(launch.lines[0].counts) == Pair(2, 8));
  CHECK(launch.lines[0].file == "common/simt/counters/test_divergence.cu");
  CHECK(launch.lines[1].line == launch.lines[0].line + 1);
}

TEST_CASE("branches in a loop") {
  const auto launch = count_warp(branches_in_a_loop);
  CHECK(loads(launch.total) == Pair(600, 2400));
  CHECK(stores(launch.total) == Pair(1, 4));
}

TEST_CASE("functions that are called") {
  const auto together = count_warp(call_together);
  CHECK(loads(together.total) == Pair(1 + 3, 4 + 12));
  CHECK(stores(together.total) == Pair(1, 4));
  const auto apart = count_warp(call_from_two_places);
  CHECK(loads(apart.total) == Pair(3 + 5, 6 + 10));
  CHECK(stores(apart.total) == Pair(1, 4));
}

TEST_CASE("break and continue") {
  const auto launch = count_warp(leave_and_continue);
  // Lane l reads x in the rounds i = l (mod 2) up to the first with i >= l / 4, and y in all of these but the last.
  // Each sector of 8 lanes has two values of l / 4, 2s and 2s + 1, and lanes of both parities.
  //   round 0: even lanes read x, 4 sectors; lanes 0 and 2 leave; the other even lanes read y: 4 sectors
  //   round 1: odd lanes read x, 4; lanes 1 to 7 leave, y: 3
  //   round 2: even lanes of 4 and on, x: 4; lanes 4, 6, 8, 10 leave, y: 3
  //   round 3: odd lanes of 8 and on, x: 3; those up to 15 leave, y: 2
  //   round 4: even lanes of 12 and on, x: 3; those up to 19 leave, y: 2
  //   round 5: odd lanes of 16 and on, x: 2; those up to 23 leave, y: 1
  //   round 6: even lanes of 20 and on, x: 2; those up to 27 leave, y: 1
  //   round 7: odd lanes of 24 and on, x: 1; all leave
  CHECK(loads(launch.total) == Pair(8 + 7, 4 + 4 + 4 + 3 + 3 + 2 + 2 + 1 + 4 + 3 + 3 + 2 + 2 + 1 + 1));
  CHECK(stores(launch.total) == Pair(1, 4));
}

TEST_CASE("a traced launch counts the same") {
  for (const auto kernel : {trip_counts, early_return, two_branches_on_a_line, branches_in_a_loop, call_together,
                            call_from_two_places, leave_and_continue, back_to_two_loops, one_lane_works}) {
    const auto plain = count_warp(kernel);
    simt::timing::predict_for("h200", 1);
    const auto traced = count_warp(kernel);
    simt::timing::predict_for("", 1);
    CAPTURE(plain.kernel);
    CHECK(traced.predicted.gpu != plain.predicted.gpu);
    CHECK(traced.total == plain.total);
    CHECK(traced.longest_thread_accesses == plain.longest_thread_accesses);
  }
}

TEST_CASE("a serial section") {
  const auto launch = count_warp(one_lane_works);
  CHECK(loads(launch.total) == Pair(1000, 1000));
  CHECK(stores(launch.total) == Pair(1, 4));
  CHECK(launch.longest_thread_accesses == 1001);
  CHECK(launch.its_block_accesses == 1032);
}

TEST_CASE("synchronisation of half a warp") {
  DeviceArray<float> y(32);
  const auto launch = count_launch([&] { half_warps<<<1, 32>>>(y.data()); });
  CHECK(shared_stores(launch.total) == Pair(2, 0));
  CHECK(shared_loads(launch.total) == Pair(1, 0));
  CHECK(stores(launch.total) == Pair(1, 4));
  CHECK(launch.total.warp_operations == 1);
}

TEST_CASE("a lane that waits for others to catch up still reads what was exchanged") {
  DeviceArray<float> x(32);
  DeviceArray<int> wrong(1);
  count_launch([&] { changing_groups<<<1, 32>>>(x.data(), wrong.data()); });
  CHECK(wrong.host()[0] == 0);
}

TEST_CASE("a spin lock within a warp ends") {
  DeviceArray<int> words(2);
  DeviceArray<float> x(200), y(200);
  const auto launch = count_launch([&] { spin_lock<<<1, 32>>>(words.data(), words.data() + 1, x.data(), y.data()); });
  CHECK(words.host()[1] == 32);
  CHECK(launch.total.global[0].bytes == 32 * (200 + 1) * 4);
}

TEST_CASE("atomics") {
  DeviceArray<int> sums(8);
  const auto launch = count_launch([&] { atomic_adds<<<1, 32>>>(sums.data()); });
  CHECK(shared_atomics(launch.total) == Pair(8, 7));
  // Four lanes on each of 8 addresses, which lie in one sector: four rounds.
  CHECK(atomics(launch.total) == Pair(1, 4));
  CHECK(launch.total.barriers == 2);
  CHECK(launch.sectors_read == 1);
  CHECK(launch.sectors_written == 1);
}

TEST_CASE("a structure of three floats is three accesses") {
  DeviceArray<Three> x(32), y(32);
  const auto launch = count_launch([&] { copy_structs<<<1, 32>>>(x.data(), y.data()); });
  CHECK(loads(launch.total) == Pair(3, 36));
  CHECK(stores(launch.total) == Pair(3, 36));
}
