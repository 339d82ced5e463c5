// Warps that wait for each other otherwise than at the block's barriers: how long a chain their accesses make.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>

#include "counters/test_kernels.h"
#include "simt.h"

namespace {

constexpr int warps = 8, each = 40;
enum class By {
  nothing,
  ticket,
  flag,
  atomic_flag,
  named_barrier,
  barrier_object,
  maximum_looks,
  other_maximum,
  another_lane,
  lock,
  lock_by_exchange,
  lock_of_ref,
  lock_by_bits,
  lock_for_the_others,
  maximum,
  maximum_of_ref,
  counter,
  exchanges,
  lock_at_the_end
};

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
}

__global__ void works(const int* in, int* out, By by) {
  __shared__ int turn, most, count;
  __shared__ cuda::barrier<cuda::thread_scope_block> done[warps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    turn = most = count = 0;
    for (auto& one : done) init(&one, 32);
  }
  __syncthreads();
  if (lane == 0) {
    if (by == By::ticket || by == By::another_lane)
      while (atomicAdd(&turn, 0) != warp) __nanosleep(20);
    if (by == By::maximum_looks || by == By::other_maximum)
      while (atomicMax(&turn, 0) != warp) __nanosleep(20);
    if (by == By::lock || by == By::lock_for_the_others) take(&turn);
    if (by == By::lock_by_exchange)
      while (atomicExch(&turn, 1) != 0) __nanosleep(20);
    if (by == By::lock_by_bits)
      while (atomicOr(&turn, 4) & 4) __nanosleep(20);
    if (by == By::flag)
      while (*static_cast<volatile int*>(&turn) != warp) __nanosleep(20);
    cuda::atomic_ref<int, cuda::thread_scope_block> shown(turn);
    if (by == By::atomic_flag)
      while (shown.load(cuda::memory_order_acquire) != warp) __nanosleep(20);
    if (by == By::lock_of_ref)
      while (shown.exchange(1) != 0) __nanosleep(20);
  }
  __syncwarp();
  if (by == By::named_barrier && warp > 0) asm volatile("bar.sync %0, 64;" ::"r"(warp) : "memory");
  if (by == By::barrier_object && warp > 0) done[warp - 1].wait_parity(false);
  int sum = 0;
  for (int k = by == By::lock_for_the_others && lane == 0 ? each : 0; k < each; k++) {
    const int value = in[k * blockDim.x + threadIdx.x];
    if (by == By::maximum) atomicMax(&most, value);
    if (by == By::maximum_of_ref) cuda::atomic_ref<int, cuda::thread_scope_block>(most).fetch_max(value);
    if (by == By::counter) atomicAdd(&count, 1);
    sum += value;
  }
  if (by == By::named_barrier && warp + 1 < warps) asm volatile("bar.sync %0, 64;" ::"r"(warp + 1) : "memory");
  if (by == By::barrier_object) (void)done[warp].arrive();
  __syncwarp();
  if (lane == 0) {
    if (by == By::ticket) atomicExch(&turn, warp + 1);
    if (by == By::maximum_looks) atomicAdd(&turn, 1);
    if (by == By::other_maximum) atomicMax(&turn, warp + 1);
    if (by == By::exchanges)
      for (int found = 0, tried = 1; found != tried;) found = atomicCAS(&most, tried = found, found + sum + 1);
    if (by == By::lock_at_the_end) {
      take(&turn);
      count += sum;
    }
    if (by == By::lock || by == By::lock_by_exchange || by == By::lock_for_the_others || by == By::lock_at_the_end)
      atomicExch(&turn, 0);
    if (by == By::lock_by_bits) atomicAnd(&turn, ~4);
    if (by == By::flag) *static_cast<volatile int*>(&turn) = warp + 1;
    cuda::atomic_ref<int, cuda::thread_scope_block> shown(turn);
    if (by == By::atomic_flag) shown.store(warp + 1, cuda::memory_order_release);
    if (by == By::lock_of_ref) shown.store(0);
  }
  if (by == By::another_lane && lane == 31) atomicAdd(&turn, 1);
  out[threadIdx.x] = sum;
}

// Blocks draw rows from a counter. Their lanes make unlike numbers of accesses: that must not add up as if they waited.
__global__ void draws(const int* in, int* next, int* out, int rows, int cols) {
  __shared__ int drawn, of_warp[warps];
  for (;;) {
    if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
    __syncthreads();
    if (drawn >= rows) return;
    int sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += in[c];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) out[drawn] = of_warp[0];
    __syncthreads();
  }
}

uint64_t chain(By by) {
  DeviceArray<int> in(each * 32 * warps), out(32 * warps);
  return count_launch([&] { works<<<1, 32 * warps>>>(in.data(), out.data(), by); }).one_by_one.chain;
}

uint64_t chain_of_queue(int rows) {
  DeviceArray<int> in(300), next(1), out(rows);
  return count_launch([&] { draws<<<1, 32 * warps>>>(in.data(), next.data(), out.data(), rows, 300); })
      .one_by_one.chain;
}

}  // namespace

TEST_CASE("warps that wait for each other make one chain") {
  for (const By by : {By::ticket, By::flag, By::atomic_flag, By::named_barrier, By::barrier_object, By::maximum_looks,
                      By::other_maximum, By::another_lane}) {
    INFO(static_cast<int>(by));
    CHECK(chain(by) > (warps - 2) * each);
  }
}

TEST_CASE("warps that hold a lock make one chain") {
  for (const By by : {By::lock, By::lock_by_exchange, By::lock_of_ref, By::lock_by_bits, By::lock_for_the_others}) {
    INFO(static_cast<int>(by));
    CHECK(chain(by) > (warps - 2) * each);
  }
}

TEST_CASE("warps that add to a sum, or keep a maximum, wait for nobody") {
  for (const By by : {By::nothing, By::maximum, By::maximum_of_ref, By::counter, By::exchanges, By::lock_at_the_end}) {
    INFO(static_cast<int>(by));
    CHECK(chain(by) < each / 2);
  }
}

TEST_CASE("warps whose block draws rows from a counter wait for it, but not longer with every row") {
  const uint64_t of_ten = chain_of_queue(10), of_forty = chain_of_queue(40);
  CHECK(of_forty <= 4 * of_ten + 40);
}

// Blocks of a cluster work one after the other, or all at once.
__global__ void __cluster_dims__(4, 1, 1) in_a_cluster(const int* in, int* out, bool in_turn) {
  const auto cluster = cooperative_groups::this_cluster();
  int sum = 0;
  for (unsigned turn = 0; turn < 4; turn++) {
    if (in_turn ? turn == cluster.block_rank() : turn == 0)
      for (int k = 0; k < each; k++) sum += in[k * blockDim.x + threadIdx.x];
    cluster.sync();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

TEST_CASE("blocks of a cluster that take turns make one chain") {
  DeviceArray<int> in(each * 64), out(8 * 64);
  const auto chain = [&](bool in_turn) {
    return count_launch([&] { in_a_cluster<<<8, 64>>>(in.data(), out.data(), in_turn); }).one_by_one.chain;
  };
  CHECK(chain(true) >= 3 * each);
  CHECK(chain(false) < each / 2);
}
