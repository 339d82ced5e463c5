// Peak rate of fp32 fused multiply-add: every core keeps enough independent vector accumulators in registers to hide
// the latency of the instruction (about four cycles, two per cycle).
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "parallel.h"
#include "roofs.h"
#include "timing.h"

namespace bench {

namespace {

constexpr int repeats = 5;
constexpr int accumulators = 12;  // 12 accumulators and 2 constants fit the 16 registers of AVX2
constexpr long steps = 4'000'000;

// One function for each instruction set: the same body, with vectors of `floats` numbers. It is a macro because a
// target attribute does not reach into a template that the function calls. The values stay near 1: no denormals, no
// infinities.
#define DEFINE_FMA(name, floats, attribute)                                                                \
  attribute float name(long count) {                                                                       \
    typedef float Vector __attribute__((vector_size(floats * sizeof(float))));                             \
    Vector sum[accumulators];                                                                              \
    for (int i = 0; i < accumulators; i++) sum[i] = Vector{} + static_cast<float>(i);                      \
    Vector factor = Vector{} + 0.5f, term = Vector{} + 0.5f;                                               \
    for (long step = 0; step < count; step++) {                                                            \
      _Pragma("GCC unroll 12") for (int i = 0; i < accumulators; i++) { sum[i] = sum[i] * factor + term; } \
    }                                                                                                      \
    for (int i = 1; i < accumulators; i++) sum[0] += sum[i];                                               \
    return sum[0][0];                                                                                      \
  }

DEFINE_FMA(fma_baseline, 4, )
#ifdef __x86_64__
DEFINE_FMA(fma_avx2, 8, __attribute__((target("avx2,fma"))))
DEFINE_FMA(fma_avx512, 16, __attribute__((target("avx512f"))))
#endif

double gflops(float (*fma)(long), int floats) {
  std::atomic<float> result{0};
  const auto work = [&](int) { result = fma(steps); };
  on_all_cores(work);  // wakes the cores up
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats; repeat++) seconds.push_back(seconds_of([&] { on_all_cores(work); }));
  const double operations = 2.0 * steps * accumulators * floats * cores();
  return operations / summarise(seconds).median / 1e9;
}

}  // namespace

FmaRate measure_fma() {
  FmaRate best{gflops(fma_baseline, 4), "baseline"};
#ifdef __x86_64__
  // Wider is not always faster: some processors lower their clock for 512-bit vectors.
  const auto consider = [&best](FmaRate rate) {
    if (rate.gflops > best.gflops) best = std::move(rate);
  };
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) consider({gflops(fma_avx2, 8), "AVX2"});
  if (__builtin_cpu_supports("avx512f")) consider({gflops(fma_avx512, 16), "AVX-512"});
#endif
  return best;
}

}  // namespace bench
