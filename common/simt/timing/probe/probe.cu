// Prints as JSON what it measures of the GPU that is there: {"machine": name, "capability": "9.0", "date": ...,
// "data_sheet": {...}, "measured": {...}}, by the names of a machine file's constants. Takes a few seconds and 2 GB of
// the GPU's memory.
//     nvcc -O3 -arch=native common/simt/timing/probe/*.cu
#include <ctime>

#include "probe.h"

namespace {

void print(const probe::Constants& constants) {
  const char* separator = "";
  for (const auto& [name, value] : constants) {
    std::printf("%s\n  \"%s\": %.4g", separator, name.c_str(), value);
    separator = ",";
  }
}

}  // namespace

int main() {
  cudaDeviceProp device;
  probe::check(cudaGetDeviceProperties(&device, 0), "no GPU that CUDA can use");
  probe::Constants measured;
  probe::rates(device, &measured);
  probe::latencies(device, &measured);
  probe::bandwidths(device, measured["clock_ghz"], &measured);
  probe::launches(device, &measured);
  probe::check(cudaDeviceSynchronize());
  const probe::Constants sheet = {
      {"multiprocessors", device.multiProcessorCount},
      {"warps", device.maxThreadsPerMultiProcessor / 32},
      {"blocks", device.maxBlocksPerMultiProcessor},
      {"registers", device.regsPerMultiprocessor},
      {"shared_kib", static_cast<double>(device.sharedMemPerMultiprocessor) / 1024},
      {"l2_mib", static_cast<double>(device.l2CacheSize) / (1 << 20)},
  };
  char date[32];
  const time_t now = time(nullptr);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  std::printf("{\"machine\": \"%s\", \"capability\": \"%d.%d\", \"date\": \"%s\",\n \"properties\": {", device.name,
              device.major, device.minor, date);
  print(sheet);
  std::printf("},\n \"measured\": {");
  print(measured);
  std::printf("}}\n");
}
