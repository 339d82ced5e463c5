// On a GPU: the time of every case as the ladder takes it, a graph of launches over rotating buffers, so that the
// caches hold nothing of a launch's data when it begins. Prints JSON. nvcc -O3 *.cu but run_cases.cu.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "calibration.h"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "time_launches: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

}  // namespace

int main() {
  using namespace calibration;
  constexpr int sets = 24;
  std::vector<Buffers> buffers(sets);
  const std::vector<float> values = uniform_values();
  const std::vector<int> next = permutation();
  for (Buffers& b : buffers) {
    check(cudaMalloc(&b.in, elements * 4));
    check(cudaMalloc(&b.in2, elements * 4));
    check(cudaMalloc(&b.out, elements * 4));
    check(cudaMalloc(&b.counters, counter_count * 4));
  }
  Buffers first = {};
  check(cudaMalloc(&first.in, elements * 4));
  check(cudaMalloc(&first.counters, counter_count * 4));
  check(cudaMemcpy(first.in, values.data(), elements * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(first.counters, next.data(), counter_count * 4, cudaMemcpyHostToDevice));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  const time_t now = time(nullptr);
  char date[32];
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  std::printf("{\"machine\": \"%s\", \"date\": \"%s\", \"l2_bytes\": %d, \"times\": {\n", properties.name, date,
              properties.l2CacheSize);
  const char* separator = "";
  // Data that falls out of the caches before it comes again: several times L2, but no more than there is.
  for (const Case& one : all_cases()) {
    const size_t wanted = 4 * static_cast<size_t>(properties.l2CacheSize) / std::max<size_t>(one.bytes, 1) + 2;
    // Small data rotates within the large buffers, too.
    const size_t step = std::max<size_t>((one.bytes + 4095) / 4096 * 4096, 1 << 16) / 4;
    const size_t per_set = std::max<size_t>(1, std::min<size_t>(elements / step, 64));
    const size_t count = std::min<size_t>(std::max<size_t>(wanted, 8), sets * per_set);
    const auto replica = [&](size_t i) {
      Buffers b = buffers[i % sets];
      const size_t at = i / sets % per_set * step;
      if (at + step <= elements) b.in += at, b.in2 += at, b.out += at;
      b.counters += i / sets % 32 * 16384;
      return b;
    };
    const auto restore = [&] {
      for (size_t set = 0; set < std::min<size_t>(sets, count); set++) {
        const Buffers& b = buffers[set];
        check(cudaMemcpyAsync(b.in, first.in, elements * 4, cudaMemcpyDeviceToDevice, stream));
        check(cudaMemcpyAsync(b.in2, first.in, elements * 4, cudaMemcpyDeviceToDevice, stream));
        check(cudaMemcpyAsync(b.counters, first.counters, counter_count * 4, cudaMemcpyDeviceToDevice, stream));
      }
      check(cudaStreamSynchronize(stream));
    };
    restore();
    for (size_t i = 0; i < count && one.prepare; i++) one.prepare(replica(i));
    cudaGraph_t graph;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (size_t i = 0; i < count; i++) one.launch(replica(i), stream);
    check(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t replay;
    check(cudaGraphInstantiate(&replay, graph, 0));
    std::vector<double> seconds;
    for (int r = 0; r < 9; r++) {
      if (!one.prepare) restore();  // a sort in place finds unsorted data each time
      check(cudaEventRecord(begin, stream));
      check(cudaGraphLaunch(replay, stream));
      check(cudaEventRecord(end, stream));
      check(cudaEventSynchronize(end));
      float milliseconds;
      check(cudaEventElapsedTime(&milliseconds, begin, end));
      if (r >= 2) seconds.push_back(milliseconds * 1e-3 / static_cast<double>(count));
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("%s  \"%s\": {\"family\": \"%s\", \"seconds\": %.4g, \"low\": %.4g, \"high\": %.4g, \"launches\": %zu}",
                separator, one.name.c_str(), one.family.c_str(), seconds[seconds.size() / 2], seconds.front(),
                seconds.back(), count);
    separator = ",\n";
    check(cudaGraphExecDestroy(replay));
    check(cudaGraphDestroy(graph));
  }
  std::printf("\n}}\n");
  return 0;
}
