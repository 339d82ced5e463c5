// Warps that wait for each other otherwise than at the block's barriers: how long a chain their accesses make.
#include <cuda/atomic>
#include <cuda/barrier>

#include "counters/test_kernels.h"
#include "simt.h"

namespace {

constexpr int warps = 8, each = 40;
enum class By { nothing, ticket, flag, atomic_flag, named_barrier, barrier_object, maximum, maximum_of_ref, counter };

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
    if (by == By::ticket)
      while (atomicAdd(&turn, 0) != warp) __nanosleep(20);
    if (by == By::flag)
      while (*static_cast<volatile int*>(&turn) != warp) __nanosleep(20);
    cuda::atomic_ref<int, cuda::thread_scope_block> shown(turn);
    if (by == By::atomic_flag)
      while (shown.load(cuda::memory_order_acquire) != warp) __nanosleep(20);
  }
  __syncwarp();
  if (by == By::named_barrier && warp > 0) asm volatile("bar.sync %0, 64;" ::"r"(warp) : "memory");
  if (by == By::barrier_object && warp > 0) done[warp - 1].wait_parity(false);
  int sum = 0;
  for (int k = 0; k < each; k++) {
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
    if (by == By::flag) *static_cast<volatile int*>(&turn) = warp + 1;
    cuda::atomic_ref<int, cuda::thread_scope_block> shown(turn);
    if (by == By::atomic_flag) shown.store(warp + 1, cuda::memory_order_release);
  }
  out[threadIdx.x] = sum;
}

uint64_t chain(By by) {
  DeviceArray<int> in(each * 32 * warps), out(32 * warps);
  return count_launch([&] { works<<<1, 32 * warps>>>(in.data(), out.data(), by); }).one_by_one.chain;
}

}  // namespace

TEST_CASE("warps that wait for each other make one chain") {
  for (const By by : {By::ticket, By::flag, By::atomic_flag, By::named_barrier, By::barrier_object}) {
    INFO(static_cast<int>(by));
    CHECK(chain(by) > (warps - 2) * each);
  }
}

TEST_CASE("warps that add to a sum, or keep a maximum, wait for nobody") {
  for (const By by : {By::nothing, By::maximum, By::maximum_of_ref, By::counter}) {
    INFO(static_cast<int>(by));
    CHECK(chain(by) < each / 2);
  }
}
