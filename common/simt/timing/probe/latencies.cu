// Chains: each step needs the one before. Cycles of clock64() over steps is the latency.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "probe.h"

namespace probe {

namespace {

constexpr int steps = 2048;

enum class Access { cached_in_l1, past_l1, atomic };

// Each entry of the ring is the address of the next; one thread walks along it.
template <Access access>
__global__ void walk(unsigned long long at, int warm_up, long long* cycles, unsigned long long* sink) {
  for (int i = 0; i < warm_up; i++) at = *reinterpret_cast<const volatile unsigned long long*>(at);
  const long long begin = clock64();
  for (int i = 0; i < steps; i++) {
    if (access == Access::cached_in_l1) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    if (access == Access::past_l1) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    if (access == Access::atomic) asm volatile("atom.global.or.b64 %0, [%0], 0;" : "+l"(at));
  }
  *cycles = clock64() - begin;
  *sink = at;
}

// A ring through `bytes` of memory, one entry per line of 128 bytes, in an order that no prefetcher knows.
std::vector<unsigned long long> ring_of(size_t bytes, const char* memory) {
  const size_t lines = bytes / 128;
  std::vector<unsigned> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  std::vector<unsigned long long> ring(bytes / 8);
  for (size_t i = 0; i < lines; i++) {
    ring[order[i] * size_t{16}] = reinterpret_cast<unsigned long long>(memory + order[(i + 1) % lines] * size_t{128});
  }
  return ring;
}

template <Access access>
double walk_through(size_t bytes, int warm_up, bool cold) {
  Array<char> memory(bytes);
  Array<long long> cycles(1);
  Array<unsigned long long> sink(1);
  const auto ring = ring_of(bytes, memory);
  check(cudaMemcpy(memory, ring.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  double best = 1e30;
  for (int repeat = 0; repeat < 5; repeat++) {
    // Writing something larger than L2 throws the ring out of it.
    if (cold) {
      Array<char> other(size_t{512} << 20);
      check(cudaMemset(other, repeat, size_t{512} << 20), "cudaMemset");
      check(cudaDeviceSynchronize());
    }
    walk<access><<<1, 1>>>(reinterpret_cast<unsigned long long>(static_cast<char*>(memory)), warm_up, cycles, sink);
    long long taken = 0;
    check(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost));
    best = std::min(best, static_cast<double>(taken) / steps);
  }
  return best;
}

enum class Step { shared, shuffle, vote, mufu, alu, divide, barrier };

template <Step step>
__global__ void chain(long long* cycles, unsigned* sink, unsigned seed) {
  __shared__ unsigned table[32];
  if (threadIdx.x < 32) table[threadIdx.x] = (threadIdx.x * 4 + 4) % 128;
  __syncthreads();
  unsigned at = seed + threadIdx.x % 32 * 4;
  float x = static_cast<float>(seed) + 1.5f;
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < steps; i++) {
    if (step == Step::shared)
      at = *reinterpret_cast<const volatile unsigned*>(reinterpret_cast<const char*>(table) + at);
    if (step == Step::shuffle) at = __shfl_xor_sync(0xFFFFFFFFu, at, 1);
    if (step == Step::vote) at = __ballot_sync(0xFFFFFFFFu, at != 0);  // with the comparison before it
    if (step == Step::mufu) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    if (step == Step::alu) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    if (step == Step::divide) x = 1.5f / x;
    if (step == Step::barrier) __syncthreads();
  }
  const long long taken = clock64() - begin;
  if (threadIdx.x == 0) *cycles = taken;
  sink[threadIdx.x] = at + static_cast<unsigned>(x);
}

template <Step step>
double chain_of(int threads = 32) {
  Array<long long> cycles(1);
  Array<unsigned> sink(1024);
  double best = 1e30;
  for (int repeat = 0; repeat < 5; repeat++) {
    chain<step><<<1, threads>>>(cycles, sink, 0);
    long long taken = 0;
    check(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost));
    best = std::min(best, static_cast<double>(taken) / steps);
  }
  return best;
}

}  // namespace

void latencies(const cudaDeviceProp& device, Constants* found) {
  Constants& f = *found;
  const size_t far = std::max<size_t>(4 * static_cast<size_t>(device.l2CacheSize), size_t{64} << 20);
  f["l1_latency"] = walk_through<Access::cached_in_l1>(8 << 10, 64, false);
  // A ring that fits into the nearer part of L2, walked once before.
  f["l2_latency"] = walk_through<Access::past_l1>(size_t{steps} * 128, steps, false);
  f["dram_latency"] = walk_through<Access::past_l1>(far, 0, true);
  f["atomic_latency"] = walk_through<Access::atomic>(far, 0, true);
  f["atomic on L2 (not in the model as such)"] = walk_through<Access::atomic>(size_t{steps} * 128, steps, false);
  f["shared_latency"] = chain_of<Step::shared>();
  f["shuffle_latency"] = chain_of<Step::shuffle>();
  f["vote_latency"] = chain_of<Step::vote>();
  f["mufu_latency"] = chain_of<Step::mufu>();
  f["alu_latency"] = chain_of<Step::alu>();
  f["division (not in the model as such)"] = chain_of<Step::divide>();
  const double few = chain_of<Step::barrier>(64), many = chain_of<Step::barrier>(1024);
  f["barrier_warp"] = (many - few) / 30;
  f["barrier"] = few - 2 * f["barrier_warp"];
}

}  // namespace probe
