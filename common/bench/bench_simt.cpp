// The executor's own benchmark: softmax of 64 x 4096 fp32 on the CPU (simt_softmax.cu), beside the same passes in plain
// serial C++; and the same kernel instrumented, with counters, with the checks, and with both.
//
//     bench_simt PLAIN.so INSTRUMENTED.so
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "checks/checks.h"
#include "counters/counters.h"
#include "machine.h"
#include "simt.h"
#include "timing.h"

namespace {

constexpr int rows = 64, cols = 4096;
constexpr size_t count = size_t{rows} * cols;
constexpr int repeats = 41;

using Softmax = cudaError_t(int threads, const float* x, float* y);

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "bench_simt: %s\n", why);
  std::exit(2);
}

void require(cudaError_t error) {
  if (error != cudaSuccess) fail(cudaGetErrorString(error));
}

Softmax* load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  void* const function = dlsym(library, "simt_softmax");
  if (!function) fail(dlerror());
  return reinterpret_cast<Softmax*>(function);
}

// The same passes on one core, without the executor.
void serial_softmax(const float* x, float* y) {
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    float max = -FLT_MAX;
    for (int c = 0; c < cols; c++) max = std::max(max, x[c]);
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += std::exp(x[c] - max);
    const float scale = 1 / sum;
    for (int c = 0; c < cols; c++) y[c] = std::exp(x[c] - max) * scale;
  }
}

// Median seconds of one call, after two that warm up. before() and after() are not timed.
template <typename Before, typename Function, typename After>
double median_seconds(Before before, Function function, After after) {
  std::vector<double> seconds;
  for (int i = -2; i < repeats; i++) {
    before();
    const double taken = bench::seconds_of(function);
    after();
    if (i >= 0) seconds.push_back(taken);
  }
  return bench::summarise(seconds).median;
}

struct Benchmark {
  Softmax *plain, *instrumented;
  const float* x;
  float* y;
  std::vector<float> expected;

  // Ends the program if the device's result is not the serial one: both are fp32, and sum in different orders.
  void require_equal() const {
    std::vector<float> got(count);
    require(cudaMemcpy(got.data(), y, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
      if (std::fabs(got[i] - expected[i]) <= 1e-4f * expected[i]) continue;
      std::fprintf(stderr, "bench_simt: wrong result in row %zu, column %zu: expected %g, got %g\n", i / cols, i % cols,
                   expected[i], got[i]);
      std::exit(1);
    }
  }

  template <typename Before, typename After>
  double seconds(Softmax* softmax, int threads, Before before, After after) const {
    require(cudaMemset(y, 0xff, count * sizeof(float)));  // NaN, so that nothing left from before can pass
    const double median = median_seconds(
        before, [&] { require(softmax(threads, x, y)); }, after);
    require_equal();
    return median;
  }
  double seconds(Softmax* softmax, int threads) const {
    return seconds(
        softmax, threads, [] {}, [] {});
  }

  void plain_speed(int threads, double serial) const {
    std::printf("executor, %4d threads per block", threads);
    double one_core = 0;
    for (int cores = 1; cores <= 2; cores++) {
      simt::set_cores(cores);
      const double taken = seconds(plain, threads);
      std::printf("  %7.2f ms (%5.2fx)", taken * 1e3, taken / serial);
      if (cores == 1)
        one_core = taken;
      else
        std::printf("  %8.2fx\n", one_core / taken);
    }
  }

  // One core. Looking up the lines of a report is not timed: it happens once, when somebody wants to read it.
  void watched_speed(int threads) const {
    simt::set_cores(1);
    const auto count_it = [] { simt::counters::start(); };
    const auto drop_it = [] { simt::counters::discard(); };
    const double unwatched = seconds(plain, threads);
    const double counted = seconds(instrumented, threads, count_it, drop_it);
    simt::checks::start();
    const double checked = seconds(instrumented, threads);
    const double both = seconds(instrumented, threads, count_it, drop_it);
    simt::checks::stop();
    std::printf("%4d threads per block", threads);
    for (const double taken : {unwatched, counted, checked, both}) {
      std::printf("  %7.2f ms (%5.2fx)", taken * 1e3, taken / unwatched);
    }
    std::printf("\n");
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: bench_simt PLAIN.so INSTRUMENTED.so");
  Benchmark benchmark = {load(argv[1]), load(argv[2]), nullptr, nullptr, std::vector<float>(count)};
  std::vector<float> input(count);
  std::mt19937 bits(1);
  std::normal_distribution<float> normal(0, 3);
  for (float& value : input) value = normal(bits);

  float* x = nullptr;
  require(cudaMalloc(&x, count * sizeof(float)));
  require(cudaMalloc(&benchmark.y, count * sizeof(float)));
  require(cudaMemcpy(x, input.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  benchmark.x = x;

  std::printf("softmax %d x %d fp32, three passes over memory; median of %d calls; (n x): n times the serial time\n",
              rows, cols, repeats);
  std::printf("%s\n\n", bench::machine_name().c_str());
  std::printf("%-29s  %18s  %18s  %9s\n", "", "one core", "two cores", "speed-up");
  const double serial = median_seconds([] {}, [&] { serial_softmax(input.data(), benchmark.expected.data()); }, [] {});
  std::printf("%-29s  %7.2f ms ( 1.00x)\n", "plain serial C++", serial * 1e3);
  for (const int threads : {256, 1024}) benchmark.plain_speed(threads, serial);
  if (bench::cores() < 2)
    std::printf("\nThis process may use only one core: the two workers of the second column share it.\n");

  std::printf("\nWatched, on one core; (n x): n times the plain executor\n");
  std::printf("%-19s  %18s  %18s  %18s  %18s\n", "", "plain", "counters", "checks", "counters, checks");
  for (const int threads : {256, 1024}) benchmark.watched_speed(threads);

  cudaFree(x);
  cudaFree(benchmark.y);
}
