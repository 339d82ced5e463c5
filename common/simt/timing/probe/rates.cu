// Independent instructions from many warps: how many a scheduler issues per cycle.
#include <algorithm>

#include "probe.h"

namespace probe {

namespace {

constexpr int steps = 1024, chains = 8, threads = 1024;

enum class Kind { fma, integer, mufu, fp64, shared };

template <Kind kind>
__global__ void repeat(long long* cycles, long long* nanoseconds, unsigned* sink, unsigned seed) {
  __shared__ float4 table[threads];
  table[threadIdx.x] = make_float4(1, 2, 3, 4);
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(table + threadIdx.x));
  float f[chains];
  unsigned u[chains];
  double d[chains];
  for (int c = 0; c < chains; c++) {
    u[c] = seed + c + threadIdx.x;
    f[c] = static_cast<float>(u[c]);
    d[c] = f[c];
  }
  __syncthreads();
  long long ns = 0, ns_end = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  const long long begin = clock64();
  for (int i = 0; i < steps; i++) {
#pragma unroll
    for (int c = 0; c < chains; c++) {
      float x, a, b, e;  // of a vector
      if (kind == Kind::fma) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f[c]));
      if (kind == Kind::integer) asm volatile("shf.l.wrap.b32 %0, %0, %0, 5;" : "+r"(u[c]));
      if (kind == Kind::mufu) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[c]));
      if (kind == Kind::fp64) asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(d[c]));
      if (kind == Kind::shared) {
        asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(x), "=f"(a), "=f"(b), "=f"(e)
                     : "r"(own));
        f[c] += x + a + b + e;
      }
    }
  }
  __syncthreads();
  const long long taken = clock64() - begin;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns_end));
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *cycles = taken;
    *nanoseconds = ns_end - ns;
  }
  unsigned sum = 0;
  for (int c = 0; c < chains; c++) sum += u[c] + static_cast<unsigned>(f[c]) + static_cast<unsigned>(d[c]);
  sink[threadIdx.x] = sum;
}

// Instructions of a warp per cycle and multiprocessor. ghz: the clock meanwhile.
template <Kind kind>
double per_cycle(const cudaDeviceProp& device, double* ghz) {
  Array<long long> time(2);
  Array<unsigned> sink(threads);
  double best = 0;
  for (int again = 0; again < 6; again++) {
    repeat<kind><<<device.multiProcessorCount, threads>>>(time, time + 1, sink, 1);
    long long taken[2];
    check(cudaMemcpy(taken, time, sizeof taken, cudaMemcpyDeviceToHost));
    const double rate = static_cast<double>(steps) * chains * (threads / 32) / static_cast<double>(taken[0]);
    if (again && rate > best) {
      best = rate;
      *ghz = static_cast<double>(taken[0]) / static_cast<double>(taken[1]);
    }
  }
  return best;
}

}  // namespace

void rates(const cudaDeviceProp& device, Constants* found) {
  Constants& f = *found;
  constexpr int schedulers = 4;
  double ghz = 0, ignored = 0;
  f["fma_rate"] = per_cycle<Kind::fma>(device, &ghz) / schedulers;
  f["clock_ghz"] = ghz;
  f["alu_rate"] = per_cycle<Kind::integer>(device, &ignored) / schedulers;
  f["mufu_rate"] = per_cycle<Kind::mufu>(device, &ignored) / schedulers;
  f["double_rate"] = per_cycle<Kind::fp64>(device, &ignored) / schedulers;
  f["bytes of shared memory per cycle (not in the model as such)"] = per_cycle<Kind::shared>(device, &ignored) * 512;
}

}  // namespace probe
