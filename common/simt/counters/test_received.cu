// What reaches a thread, by whatever way, and its share of what is loaded.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "test_kernels.h"

namespace cg = cooperative_groups;
using simt::counters::Launch;

namespace {

// Each lane loads a float; then the kernel hands values about.
template <typename Body>
__global__ void after_a_load(const float* in, float* out, Body body) {
  const float mine = in[threadIdx.x];
  const float got = body(mine);
  if (got == 0.25f) out[threadIdx.x] = got;  // never, but the compiler does not know
}

__global__ void first_warp(const float* in, float* out) {
  if (threadIdx.x < 32) out[threadIdx.x] = in[threadIdx.x];
}

// All but the last `idle` blocks load eight floats per thread; those load nothing.
__global__ void some_blocks(const float* in, float* out, int idle) {
  const bool works = static_cast<int>(blockIdx.x) < static_cast<int>(gridDim.x) - idle;
  float sum = 0;
  for (int i = 0; i < (works ? 8 : 0); i++) sum += in[i * 32 + threadIdx.x];
  if (sum == 0.25f) out[threadIdx.x] = sum;
}

template <typename Body>
Launch count(unsigned threads, Body body) {
  DeviceArray<float> in(threads), out(threads);
  return count_launch([&] { after_a_load<<<1, threads>>>(in.data(), out.data(), body); });
}

constexpr unsigned all = 0xffffffff;

}  // namespace

TEST_CASE("a load, a shuffle and a vote reach a thread") {
  CHECK(count(32, [] __device__(float x) { return x; }).received.bytes == 4);
  CHECK(count(32, [] __device__(float x) { return __shfl_xor_sync(all, x + 1.0f, 1); }).received.bytes == 4 + 4);
  CHECK(count(32, [] __device__(float x) {
          return __shfl_xor_sync(all, x + 1.0, 1) > 2 ? 1.0f : 2.0f;
        }).received.bytes == 4 + 8);
  CHECK(count(32, [] __device__(float x) { return __ballot_sync(all, x > 0) ? 1.0f : 2.0f; }).received.bytes == 4 + 4);
  // What a lane hands itself it has.
  CHECK(count(32, [] __device__(float x) { return __shfl_sync(all, x + 1.0f, threadIdx.x); }).received.bytes == 4);
}

TEST_CASE("a lane that gets all of its warp gets 32 times its share") {
  const Launch launch = count(64, [] __device__(float x) {
    float sum = 0;
    for (int lane = 0; lane < 32; lane++) sum += __shfl_sync(all, x + 1.0f, lane);
    return sum;
  });
  CHECK(launch.received.bytes == 4 + 31 * 4);
  CHECK(launch.received.share == 4);
}

TEST_CASE("shared memory reaches a thread, and the votes of a barrier") {
  const Launch launch = count(64, [] __device__(float x) {
    __shared__ float all_of_them[64];
    all_of_them[threadIdx.x] = x;
    __syncthreads();
    float sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < 64; i++) sum += all_of_them[i];
    return sum;
  });
  CHECK(launch.received.bytes == 4 + 64 * 4 + 4);
}

TEST_CASE("of two that get as much, or load as much, the same one counts in either order") {
  using simt::counters::Received;
  using simt::counters::WarpLoads;
  const Received received[] = {{100, 10}, {100, 40}};
  const WarpLoads loads[] = {{100, 300, 2}, {100, 400, 2}};
  for (const int first : {0, 1}) {
    Received most = received[first];
    most.keep_most(received[1 - first]);
    CHECK(most.share == 10);
    WarpLoads busiest = loads[first];
    busiest.keep_most(loads[1 - first]);
    CHECK(busiest.block_bytes == 300);
  }
}

TEST_CASE("an announced atomic is one access, and covers one load and one update of its lane and size") {
  const auto received = [](auto body) { return count(32, body).received.bytes - 4; };
  CHECK(received([] __device__(float x) {
          __shared__ unsigned sum;
          return static_cast<float>(atomicAdd(&sum, x > 0));
        }) == 4);
  CHECK(received([] __device__(float x) {  // read again after the announcement was used up
          __shared__ unsigned word;
          simt::before_atomic(&word, 4);
          unsigned sum = 0;
          for (int i = 0; i < 8; i++) sum += __atomic_load_n(&word, __ATOMIC_SEQ_CST);
          return x + static_cast<float>(sum);
        }) == 8 * 4);
  CHECK(received([] __device__(float x) {  // more than was announced
          __shared__ unsigned long long word;
          simt::before_atomic(&word, 1);
          return x + static_cast<float>(__atomic_load_n(&word, __ATOMIC_SEQ_CST));
        }) == 1 + 8);
  CHECK(received([] __device__(float x) {  // announced as a store
          __shared__ unsigned word;
          simt::before_atomic_store(&word, 4);
          return x + static_cast<float>(__atomic_load_n(&word, __ATOMIC_SEQ_CST));
        }) == 4 + 4);
  CHECK(received([] __device__(float x) {  // announced by another lane
          __shared__ unsigned word;
          if (threadIdx.x > 0) simt::before_atomic(&word, 4);
          __syncwarp();
          return x + static_cast<float>(threadIdx.x == 0 ? __atomic_load_n(&word, __ATOMIC_SEQ_CST) : 0);
        }) == 4);
  CHECK(received([] __device__(float x) {  // exchanges that find something else
          __shared__ unsigned word;
          simt::before_atomic(&word, 4);
          unsigned found = 7;
          for (int i = 0; i < 3; i++) {
            __atomic_compare_exchange_n(&word, &found, found, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
            found++;
          }
          return x + static_cast<float>(found);
        }) == 3 * 4);
  CHECK(received([] __device__(float x) {  // what an exchange compares with is read, and written
          __shared__ unsigned other;
          unsigned word = 1;
          return x + static_cast<float>(
                         __atomic_compare_exchange_n(&word, &other, 5, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        }) == 4);
}

TEST_CASE("which lanes are here reaches a thread, and another lane's operand of a product") {
  CHECK(count(32, [] __device__(float x) { return static_cast<float>(__activemask()) + x; }).received.bytes == 4 + 4);
  CHECK(count(32, [] __device__(float x) {
          const simt::Exchanged held = simt::warp_exchange(all, static_cast<uint64_t>(x), {__FILE__, __LINE__, {}});
          return static_cast<float>(simt::checked_operand(held.values, threadIdx.x ^ 1));
        }).received.bytes == 4 + 4);
}

TEST_CASE("what a tile of several warps brings reaches its threads") {
  const Launch launch = count(64, [] __device__(float x) {
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    return cg::reduce(tile, x + 1.0f, cg::plus<float>());
  });
  CHECK(launch.received.bytes == 4 + 5 * 4 + 2 * 4 + 4);  // the last: how many have come
}

TEST_CASE("blocks work that load a quarter of the mean") {
  DeviceArray<float> in(256), out(32);
  const auto working = [&](int idle) {
    return count_launch([&] { some_blocks<<<16, 32>>>(in.data(), out.data(), idle); }).working_blocks;
  };
  CHECK(working(0) == 16);
  CHECK(working(15) == 1);
}

TEST_CASE("where some warps load nothing, the share is that of the warp that does") {
  CHECK(count(256, [] __device__(float x) { return x; }).received.share == 4);
  DeviceArray<float> in(32), out(32);
  const Launch launch = count_launch([&] { first_warp<<<1, 256>>>(in.data(), out.data()); });
  CHECK(launch.received.bytes == 4);
  CHECK(launch.received.share == 4);
}

TEST_CASE("lanes exchange what shuffles, votes and reductions hand them") {
  const auto exchanged = [](auto body) { return count(64, body).exchanged; };
  CHECK(exchanged([] __device__(float x) { return x; }) == 0);
  CHECK(exchanged([] __device__(float x) {
          __syncwarp();
          __syncthreads();
          return x;
        }) == 0);
  CHECK(exchanged([] __device__(float x) { return __shfl_xor_sync(all, x + 1.0f, 1); }) == 64 * 4);
  // The upper half of each warp has nobody above it.
  CHECK(exchanged([] __device__(float x) { return __shfl_down_sync(all, x + 1.0f, 16); }) == 32 * 4);
  CHECK(exchanged([] __device__(float x) { return __any_sync(all, x > 0) ? 1.0f : 2.0f; }) == 64 * 4);
}

TEST_CASE("a word of shared memory is handed over once, whoever reads it, and again after it is written again") {
  const auto handed = [](auto body) { return count(64, body).total.handed_over; };
  CHECK(handed([] __device__(float x) {
          __shared__ float own[64];
          own[threadIdx.x] = x;
          __syncthreads();
          return own[threadIdx.x];
        }) == 0);
  CHECK(handed([] __device__(float x) {
          __shared__ float one;
          if (threadIdx.x == 5) one = x;
          __syncthreads();
          return one;
        }) == 4);
  CHECK(handed([] __device__(float x) {
          __shared__ float one;
          float sum = 0;
          for (int i = 0; i < 3; i++) {
            if (threadIdx.x == 60) one = x;
            __syncthreads();
            sum += one;
            __syncthreads();
          }
          return sum;
        }) == 3 * 4);
  // A tree: each of 63 values is read by another thread.
  CHECK(handed([] __device__(float x) {
          __shared__ float tree[64];
          tree[threadIdx.x] = x;
          for (unsigned half = 32; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
          }
          return x;
        }) == 63 * 4);
  CHECK(handed([] __device__(float x) {
          __shared__ unsigned sum;
          if (threadIdx.x == 63) sum = 0;  // the first atomic is that of thread 0
          __syncthreads();
          atomicAdd(&sum, x > 0);
          return x;
        }) == 64 * 4);
  CHECK(handed([] __device__(float x) {
          __shared__ double values[64];
          values[threadIdx.x] = x;
          __syncthreads();
          return static_cast<float>(values[63 - threadIdx.x]);
        }) == 64 * 8);
}

TEST_CASE("of a block's warps the one counts that loads most of its block's") {
  DeviceArray<float> in(256), out(256);
  const Launch alone = count_launch([&] { first_warp<<<1, 256>>>(in.data(), out.data()); });
  CHECK(alone.busiest_warp.bytes == 32 * 4);
  CHECK(alone.busiest_warp.block_bytes == 32 * 4);
  CHECK(alone.busiest_warp.warps == 8);
  const Launch shared = count(256, [] __device__(float x) { return x; });
  CHECK(shared.busiest_warp.bytes == 32 * 4);
  CHECK(shared.busiest_warp.block_bytes == 256 * 4);
}

// Each warp in its turn, with a barrier after it; or all at once.
__global__ void in_turn(const float* in, float* out, bool turns) {
  float sum = 0;
  for (unsigned turn = 0; turn < 8; turn++) {
    if (!turns || threadIdx.x / 32 == turn)
      for (int i = 0; i < 10; i++) sum += in[threadIdx.x + 256 * i];
    __syncthreads();
    if (!turns) break;
  }
  out[threadIdx.x] = sum;
}

TEST_CASE("warps that take turns at barriers make a chain as long as the work of all") {
  DeviceArray<float> in(2560), out(256);
  for (const bool turns : {false, true}) {
    CAPTURE(turns);
    const Launch launch = count_launch([&] { in_turn<<<2, 256>>>(in.data(), out.data(), turns); });
    CHECK(launch.one_by_one.chain == (turns ? 7 * 10 : 0));
    if (!turns) continue;
    CHECK(launch.one_by_one.instructions == 8 * 11);
    CHECK(launch.one_by_one.warps == 8);
  }
}
