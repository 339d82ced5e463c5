// Copies in bulk, which one thread starts and an engine makes: they count as the block's, and as no thread's accesses.
#include <cuda/barrier>

#include "test_kernels.h"

namespace {

namespace bulk = cuda::device::experimental;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr unsigned threads = 64, elements = 1024, bytes = elements * sizeof(float);

// Thread 0 has the block's part brought to shared memory and back; readers: so many threads add it up.
__global__ void copies(const float* in, float* out, unsigned readers) {
  __shared__ alignas(128) float part[elements];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk::cp_async_bulk_global_to_shared(part, in, bytes, barrier);
    (void)cuda::device::barrier_arrive_tx(barrier, 1, bytes);
  }
  barrier.wait_parity(false);
  float sum = 0;
  for (unsigned i = threadIdx.x; i < elements && threadIdx.x < readers; i += readers) sum += part[i];
  if (sum == 0.25f) part[threadIdx.x] = sum;  // never, but the compiler does not know
  bulk::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk::cp_async_bulk_shared_to_global(out, part, bytes);
    bulk::cp_async_bulk_commit_group();
    bulk::cp_async_bulk_wait_group_read<0>();
  }
}

// Every thread has its 16 bytes copied, which the hardware does by the same engine.
__global__ void each_copies(const float4* in, float4* out) {
  __shared__ float4 part[threads];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, threads);
  __syncthreads();
  cuda::memcpy_async(&part[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(16), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = part[threads - 1 - threadIdx.x];
}

simt::counters::Launch count(unsigned readers) {
  DeviceArray<float> in(elements), out(elements);
  return count_launch([&] { copies<<<1, threads>>>(in.data(), out.data(), readers); });
}

}  // namespace

TEST_CASE("a copy in bulk counts its bytes, 512 in a request, and hands nothing over") {
  const auto launch = count(threads);
  CHECK(loads(launch.total) == Pair{bytes / 512, bytes / 32});
  CHECK(stores(launch.total) == Pair{bytes / 512, bytes / 32});
  CHECK(launch.total.global[0].bytes == bytes);
  CHECK(shared_stores(launch.total) == Pair{bytes / 128, 0});
  CHECK(launch.total.handed_over == 0);
  CHECK(launch.sectors_read == bytes / 32);
}

TEST_CASE("who starts a copy in bulk has made no accesses, who reads all of it has") {
  constexpr uint64_t barriers = 64;
  const auto shared = count(threads), alone = count(1);
  CHECK(shared.longest_thread_accesses == elements / threads);
  CHECK(shared.received.share == bytes / threads);
  CHECK(shared.received.bytes <= bytes / threads + barriers);
  CHECK(shared.busiest_warp.bytes == 0);
  CHECK(alone.longest_thread_accesses == elements);
  CHECK(alone.received.bytes >= bytes);
}

TEST_CASE("copies in bulk that lanes start at a time are counted together") {
  DeviceArray<float4> in(threads), out(threads);
  const auto launch = count_launch([&] { each_copies<<<1, threads>>>(in.data(), out.data()); });
  CHECK(loads(launch.total) == Pair{threads / 32, threads / 2});
  CHECK(launch.total.global[0].bytes == threads * 16);
  CHECK(launch.longest_thread_accesses == 2);
}
