// Streams through memory with many loads in flight, and atomics.
#include <algorithm>

#include "probe.h"

namespace probe {

namespace {

constexpr int threads = 256;
constexpr int accesses = 8;  // of 16 bytes, per thread

// `written` of a thread's accesses are stores. A block's loads are one piece of memory, and so are its stores.
template <int written>
__global__ void stream(const float4* __restrict__ from, float4* __restrict__ to) {
  constexpr int read = accesses - written;
  const size_t block = blockIdx.x;
  float4 sum = {};
#pragma unroll
  for (int i = 0; i < read; i++) {
    const float4 v = from[(block * read + i) * threads + threadIdx.x];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
#pragma unroll
  for (int i = 0; i < written; i++) to[(block * written + i) * threads + threadIdx.x] = sum;
  if (written == 0 && sum.x == -1.0f) to[0] = sum;
}

template <int written>
double dram_gbs(const float4* from, float4* to, size_t bytes) {
  const int blocks = static_cast<int>(bytes / 16 / accesses / threads);
  return static_cast<double>(bytes) / best_ms([&] { stream<written><<<blocks, threads>>>(from, to); }) / 1e6;
}

// Every block reads vectors of its own again and again, past L1.
__global__ void read_again(const float4* __restrict__ from, unsigned vectors, int rounds, float* sink) {
  const float4* const own = from + static_cast<size_t>(blockIdx.x) * vectors;
  float sum = 0;
  for (int round = 0; round < rounds; round++) {
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
      const float4 v = __ldcg(own + i);
      sum += v.x + v.y + v.z + v.w;
    }
  }
  if (sum == -1.0f) *sink = sum;
}

__global__ void scattered_stores(unsigned* to, unsigned sectors) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[(i * 2654435761u >> 5 & (sectors - 1)) * size_t{8}] = i;
}

// Reads the first half of every line of 128 bytes, in an order without a pattern. lines: a power of two.
__global__ void half_lines(const float4* __restrict__ from, size_t lines, float* sink) {
  const size_t i = static_cast<size_t>(blockIdx.x) * 4 * threads + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const size_t at = i + static_cast<size_t>(k) * threads;
    const float4 v = from[(at / 4 * 2654435761u & (lines - 1)) * 8 + at % 4];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == -1.0f) *sink = sum;
}

__global__ void add_everywhere(unsigned* counters, unsigned mask) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(counters + ((i * 2654435761u) >> 12 & mask), 1u);
}

}  // namespace

void bandwidths(const cudaDeviceProp& device, double clock_ghz, Constants* found) {
  Constants& f = *found;
  size_t bytes = size_t{512} << 20;  // many times L2, a power of two
  while (bytes < 8 * static_cast<size_t>(device.l2CacheSize)) bytes *= 2;
  Array<float4> from(bytes / 16), to(bytes / 16);
  check(cudaMemset(from, 0, bytes));
  check(cudaMemset(to, 0, bytes));
  f["dram_gbs_written_0"] = dram_gbs<0>(from, to, bytes);
  f["dram_gbs_written_25"] = dram_gbs<2>(from, to, bytes);
  f["dram_gbs_written_50"] = dram_gbs<4>(from, to, bytes);
  f["dram_gbs_written_75"] = dram_gbs<6>(from, to, bytes);
  f["dram_gbs_written_100"] = dram_gbs<8>(from, to, bytes);

  Array<float> sink(1);
  // All blocks together read a quarter of L2; every block a multiple of what its threads read in 8 steps.
  const int blocks = 2 * device.multiProcessorCount, rounds = 32;
  const unsigned step = 1024 * 8, each = std::max(step, device.l2CacheSize / 4 / 16 / blocks / step * step);
  const auto gbs_of = [&](int blocks, unsigned count) {
    const double ms = best_ms([&] { read_again<<<blocks, 1024>>>(from, count, rounds, sink); });
    return static_cast<double>(blocks) * count * 16 * rounds / ms / 1e6;
  };
  f["l2_gbs"] = gbs_of(blocks, each);
  f["l1_l2_bytes"] = gbs_of(1, 1 << 16) / clock_ghz;

  const int half_blocks = static_cast<int>(bytes / 32 / 4 / threads);  // of each line 64 bytes: half of all vectors
  const double half_gbs = static_cast<double>(bytes) / 2 /
                          best_ms([&] { half_lines<<<half_blocks, threads>>>(from, bytes / 128, sink); }) / 1e6;
  f["half_line"] = std::max(1.0, f["dram_gbs_written_0"] / half_gbs);

  const unsigned stores = 1u << 24, sectors = 1u << 19;  // 16 MiB: within L2
  const double ms = best_ms([&] {
    scattered_stores<<<stores / threads, threads>>>(reinterpret_cast<unsigned*>(static_cast<float4*>(to)), sectors);
  });
  f["partial_stores_ns"] = stores / ms / 1e6;

  const unsigned adds = 1u << 24;
  Array<unsigned> counters(1 << 20);
  check(cudaMemset(counters, 0, 4 << 20));
  const auto adds_ns = [&](unsigned addresses) {
    return adds / best_ms([&] { add_everywhere<<<adds / threads, threads>>>(counters, addresses - 1); }) / 1e6;
  };
  f["atomics_ns"] = adds_ns(128);  // on one piece of 512 bytes
  f["atomics to one address per ns (not in the model as such)"] = adds_ns(1);
  f["scattered_atomics_ns"] = adds_ns(1 << 20);
}

}  // namespace probe
