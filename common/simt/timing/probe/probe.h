// What `make probe` measures of the GPU that is there, in the units of a machine file (../machine.h). Each function
// launches small kernels that do one thing, and gives the best of several runs: whatever disturbs a run makes it
// slower.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <cuda_runtime.h>

namespace probe {

using Constants = std::map<std::string, double>;

inline void check(cudaError_t error, const char* doing = "a probe's kernel") {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "probe: %s: %s\n", doing, cudaGetErrorString(error));
  std::exit(1);
}

// Device memory for the time of a measurement.
template <typename T>
class Array {
 public:
  explicit Array(size_t count) { check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc"); }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  operator T*() const { return data_; }

 private:
  T* data_ = nullptr;
};

// Milliseconds of what `work` puts into the stream, the best of `repeats` after one that warms up.
template <typename Work>
double best_ms(Work work, int repeats = 7) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  double best = 1e30;
  for (int i = 0; i <= repeats; i++) {
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i && ms < best) best = ms;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

// Cycles until a dependent instruction may begin: of loads from each level of memory, and of instructions.
void latencies(const cudaDeviceProp& device, Constants* found);
// GB/s of DRAM by the share of bytes written, of L2, of one multiprocessor's way to L2, of atomics.
void bandwidths(const cudaDeviceProp& device, double clock_ghz, Constants* found);
// Instructions of a warp per cycle and scheduler; the clock under load.
void rates(const cudaDeviceProp& device, Constants* found);
// What a launch and a block cost.
void launches(const cudaDeviceProp& device, Constants* found);

}  // namespace probe
