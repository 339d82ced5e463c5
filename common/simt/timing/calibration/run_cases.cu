// On the executor (simtcc --profile): launches every case once, so that each launch's prediction is in the report.
// With an argument only the cases whose names hold it.
#include <cstdio>
#include <cstring>
#include <vector>

#include "calibration.h"

int main(int argc, char** argv) {
  using namespace calibration;
  Buffers b = {};
  cudaMalloc(&b.in, elements * 4);
  cudaMalloc(&b.in2, elements * 4);
  cudaMalloc(&b.out, elements * 4);
  cudaMalloc(&b.counters, counter_count * 4);
  const std::vector<float> values = uniform_values();
  const std::vector<int> next = permutation();
  const auto restore = [&] {
    cudaMemcpy(b.in, values.data(), elements * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(b.in2, values.data(), elements * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(b.counters, next.data(), counter_count * 4, cudaMemcpyHostToDevice);
  };
  for (const Case& one : all_cases()) {
    if (argc > 1 && one.name.find(argv[1]) == std::string::npos) continue;
    restore();
    if (one.prepare) one.prepare(b);
    one.launch(b, nullptr);
    std::printf("%s\t%s\t%d\n", one.name.c_str(), one.family.c_str(), one.held_out);
  }
  return cudaDeviceSynchronize();
}
