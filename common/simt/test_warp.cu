// Warp intrinsics: every value of every lane, also for partial masks, narrow segments and lanes that have returned.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "testing.h"

namespace cg = cooperative_groups;

namespace {

// Runs `kernel` with one block of 64 threads and returns the int that each thread wrote.
template <typename Kernel>
std::vector<long long> lanes(Kernel kernel, int threads = 64) {
  DeviceArray<long long> out(threads, -1);
  kernel<<<1, threads>>>(out.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  return out.host();
}

__global__ void shuffles(long long* out) {
  const int t = threadIdx.x;
  const int value = 100 + t;
  long long result = 0;
  result = result * 1000 + __shfl_sync(0xffffffff, value, 5);
  result = result * 1000 + __shfl_up_sync(0xffffffff, value, 3);
  result = result * 1000 + __shfl_down_sync(0xffffffff, value, 3);
  result = result * 1000 + __shfl_xor_sync(0xffffffff, value, 6);
  out[t] = result;
}

__global__ void narrow_shuffles(long long* out) {
  const int t = threadIdx.x;
  const int value = 100 + t;
  long long result = 0;
  result = result * 1000 + __shfl_sync(0xffffffff, value, 13, 8);  // 13 mod 8
  result = result * 1000 + __shfl_up_sync(0xffffffff, value, 3, 8);
  result = result * 1000 + __shfl_down_sync(0xffffffff, value, 3, 8);
  result = result * 1000 + __shfl_xor_sync(0xffffffff, value, 12, 8);
  out[t] = result;
}

__global__ void votes(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  const unsigned even = __ballot_sync(0xffffffff, lane % 2 == 0);
  const int any = __any_sync(0xffffffff, lane == 7), none = __any_sync(0xffffffff, 0);
  const int all = __all_sync(0xffffffff, 1), not_all = __all_sync(0xffffffff, lane != 9);
  out[t] = even == 0x55555555u && any && !none && all && !not_all;
}

__global__ void halves_apart(long long* out) {
  // The halves of the warp run different numbers of operations, each with its own mask.
  const int t = threadIdx.x, lane = t % 32;
  const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  int value = t;
  const int steps = lane < 16 ? 1 : 3;
  for (int i = 0; i < steps; i++) value = __shfl_sync(mask, value, (lane & 16) + (lane + 1) % 16);
  out[t] = __shfl_sync(0xffffffff, value, lane ^ 16);
}

__global__ void every_other_lane(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  if (lane % 2) {
    unsigned ballot = __ballot_sync(0xaaaaaaaau, lane > 15);
    out[t] = ballot;
  } else {
    out[t] = __reduce_add_sync(0x55555555u, lane);
  }
}

__global__ void early_return(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  out[t] = -2;
  if (lane >= 20) return;
  const unsigned ballot = __ballot_sync(0xffffffff, 1);  // names lanes that have returned
  const int sum = __reduce_add_sync(0xffffffff, 1);
  out[t] = static_cast<long long>(ballot) * 100 + sum;
}

__global__ void nested_divergence(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  long long seen = 0;
  for (int i = 0; i < lane % 4 + 1; i++) {
    const unsigned here = __activemask();  // lanes whose loop goes on
    if (lane % 2) {
      seen = seen * 100 + __popc(__activemask());
    } else {
      seen = seen * 100 + __popc(here);
    }
    __syncwarp(here);
  }
  out[t] = seen;
}

__global__ void matches(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  const unsigned same = __match_any_sync(0xffffffff, lane % 3);
  int all = 0, not_all = 0;
  const unsigned everyone = __match_all_sync(0xffffffff, 5.0f, &all);
  __match_all_sync(0xffffffff, lane, &not_all);
  unsigned expected = 0;
  for (int other = 0; other < 32; other++) expected |= (other % 3 == lane % 3 ? 1u : 0u) << other;
  out[t] = same == expected && all && !not_all && everyone == 0xffffffffu;
}

__global__ void reductions(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  const unsigned u = static_cast<unsigned>(lane);
  bool right = __reduce_add_sync(0xffffffff, lane) == 496 && __reduce_min_sync(0xffffffff, lane - 5) == -5;
  right &= __reduce_max_sync(0xffffffff, lane - 5) == 26 && __reduce_max_sync(0xffffffff, u) == 31u;
  right &= __reduce_or_sync(0xffffffff, 1u << lane) == 0xffffffffu && __reduce_and_sync(0xffffffff, u | 64) == 64u;
  right &= __reduce_xor_sync(0xffffffff, u) == 0u;
  out[t] = right;
}

__global__ void wide_types(long long* out) {
  const int t = threadIdx.x, lane = t % 32;
  const double d = __shfl_xor_sync(0xffffffff, lane + 0.25, 1);
  const half h = __shfl_xor_sync(0xffffffff, __float2half(static_cast<float>(lane)), 1);
  const half2 h2 = __shfl_down_sync(0xffffffff, __floats2half2_rn(lane, -lane), 1);
  const unsigned long long u = __shfl_sync(0xffffffff, 0xffffffffffull + lane, 3);
  const float below = lane < 31 ? lane + 1.0f : 31.0f;
  out[t] = d == (lane ^ 1) + 0.25 && __half2float(h) == (lane ^ 1) && __low2float(h2) == below &&
           __high2float(h2) == -below && u == 0xffffffffffull + 3;
}

// One thread of each tile works, and all lanes of the tile get its result.
__global__ void invocations(long long* out) {
  __shared__ int calls;
  if (threadIdx.x == 0) calls = 0;
  __syncthreads();
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  cg::invoke_one(
      tile, [](int* count) { atomicAdd(count, 1); }, &calls);
  const int sum = cg::invoke_one_broadcast(
      tile, [](int a, int b) { return a + b; }, static_cast<int>(threadIdx.x), 100);
  __syncthreads();
  out[threadIdx.x] = calls == static_cast<int>(blockDim.x / 8) && sum == static_cast<int>(threadIdx.x / 8 * 8 + 100);
}

__global__ void groups(long long* out) {
  const int t = threadIdx.x;
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  bool right = block.thread_rank() == threadIdx.x && block.size() == blockDim.x;
  right &= tile.thread_rank() == t % 8u && tile.meta_group_rank() == t / 8u && tile.meta_group_size() == blockDim.x / 8;
  right &= tile.shfl(t, 2) == t / 8 * 8 + 2 && tile.shfl_xor(t, 1) == (t ^ 1);
  right &= tile.shfl_up(t, 1) == (t % 8 ? t - 1 : t) && tile.shfl_down(t, 1) == (t % 8 < 7 ? t + 1 : t);
  right &= cg::reduce(tile, t, cg::plus<int>()) == t / 8 * 64 + 28;
  right &=
      cg::reduce(tile, t, cg::greater<int>()) == t / 8 * 8 + 7 && cg::reduce(tile, t, cg::less<int>()) == t / 8 * 8;
  right &= cg::inclusive_scan(tile, 2) == 2 * (t % 8 + 1) && cg::exclusive_scan(tile, 2) == 2 * (t % 8);
  right &= tile.ballot(t % 8 == 3) == 8u && tile.any(t % 8 == 3) && !tile.all(t % 8 == 3);
  struct Big {
    double a, b, c;
  };
  const Big big = tile.shfl(Big{t + 0.5, t + 1.5, t + 2.5}, 4);
  right &= big.a == t / 8 * 8 + 4.5 && big.c == t / 8 * 8 + 6.5;
  if (t % 2) {
    const auto odd = cg::coalesced_threads();
    right &= odd.size() == 16 && odd.thread_rank() == t % 32 / 2u && odd.shfl(t, 0) == t / 32 * 32 + 1;
    right &= cg::reduce(odd, 1, cg::plus<int>()) == 16;
  }
  block.sync();
  out[t] = right;
}

}  // namespace

TEST_CASE("shuffles move every lane's value") {
  const auto got = lanes(shuffles);
  for (int t = 0; t < 64; t++) {
    const int base = t / 32 * 32, lane = t % 32;
    const long long source = 100 + base + 5, up = 100 + (lane < 3 ? t : t - 3), down = 100 + (lane > 28 ? t : t + 3);
    INFO("thread " << t);
    REQUIRE(got[t] == ((source * 1000 + up) * 1000 + down) * 1000 + 100 + (t ^ 6));
  }
}

TEST_CASE("shuffles stay inside segments of `width` lanes") {
  const auto got = lanes(narrow_shuffles);
  for (int t = 0; t < 64; t++) {
    const int segment = t / 8 * 8, in = t % 8;
    const long long source = 100 + segment + 5, up = 100 + (in < 3 ? t : t - 3), down = 100 + (in > 4 ? t : t + 3);
    // xor by 12 leaves the segment: upwards the lane keeps its own value, downwards it reads.
    const int other = (t % 32) ^ 12;
    const long long x = 100 + (other > (t % 32 | 7) ? t : t / 32 * 32 + other);
    INFO("thread " << t);
    REQUIRE(got[t] == ((source * 1000 + up) * 1000 + down) * 1000 + x);
  }
}

TEST_CASE("operations with different masks do not disturb each other") {
  const auto got = lanes(halves_apart);
  for (int t = 0; t < 64; t++) {
    const int partner = t ^ 16, steps = partner % 32 < 16 ? 1 : 3;
    INFO("thread " << t);
    REQUIRE(got[t] == partner / 16 * 16 + (partner % 16 + steps) % 16);
  }
}

TEST_CASE("masks with holes") {
  const auto got = lanes(every_other_lane);
  for (int t = 0; t < 64; t++) REQUIRE(got[t] == (t % 2 ? 0xaaaa0000ll : 240));
}

TEST_CASE("a lane that has returned counts as arrived and does not vote") {
  const auto got = lanes(early_return);
  for (int t = 0; t < 64; t++) REQUIRE(got[t] == (t % 32 < 20 ? 0xfffffll * 100 + 20 : -2));
}

TEST_CASE("__activemask names the lanes that are at the same line") {
  const auto got = lanes(nested_divergence);
  // Lanes with lane % 4 >= i are in iteration i: 32, 24, 16, 8 of them. Odd lanes then ask among odd lanes only.
  const long long expected[4] = {32, 1616, 322416, 16160808};
  for (int t = 0; t < 64; t++) {
    INFO("thread " << t);
    REQUIRE(got[t] == expected[t % 4]);
  }
}

TEST_CASE("votes, matches, reductions, types and groups are right in every lane") {
  for (auto kernel : {votes, matches, reductions, wide_types, groups, invocations}) {
    for (long long right : lanes(kernel)) REQUIRE(right == 1);
  }
}

TEST_CASE("a warp that the block does not fill") {
  const auto got = lanes(early_return, 40);
  for (int t = 0; t < 40; t++) REQUIRE(got[t] == (t < 20 ? 0xfffffll * 100 + 20 : t < 32 ? -2 : 0xffll * 100 + 8));
}
