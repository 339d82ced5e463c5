// Rate of expf: every core calls it for one number after the other, as the kernels on the CPU executor do.
#include <atomic>
#include <cmath>

#include "parallel.h"
#include "roofs.h"
#include "timing.h"

namespace bench {

namespace {

constexpr int repeats = 5;
constexpr int numbers = 4096;  // 16 KiB: stays in the first-level cache
constexpr int passes = 1000;

// The arguments of softmax: logits minus their maximum, here -16 .. 0.
float sum_of_exponentials() {
  float x[numbers];
  for (int i = 0; i < numbers; i++) x[i] = -16.0f * static_cast<float>(i) / numbers;
  float sum[4] = {};
  for (int pass = 0; pass < passes; pass++) {
    for (int i = 0; i < numbers; i += 4) {
      for (int j = 0; j < 4; j++) sum[j] += std::exp(x[i + j]);
    }
    x[pass % numbers] -= 0.001f;  // a pass differs from the one before, so that none can be left out
  }
  return sum[0] + sum[1] + sum[2] + sum[3];
}

}  // namespace

double measure_exp() {
  std::atomic<float> result{0};
  const auto work = [&](int) { result = sum_of_exponentials(); };
  on_all_cores(work);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats; repeat++) seconds.push_back(seconds_of([&] { on_all_cores(work); }));
  return static_cast<double>(numbers) * passes * cores() / summarise(seconds).median / 1e9;
}

}  // namespace bench
