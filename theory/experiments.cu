// The experiments of chapters 8 and 9, on the GPU that is there. Prints one JSON object; `make experiments` writes it
// to plots/results/experiments-<device>.json. Takes about ten seconds and 2 GiB of the device's memory.
//
//     latency       how long one load takes that waits for the one before, in caches and in memory
//     in_flight     bandwidth against the bytes that an SM has in flight (Little's law)
//     cache         the same copy with its data in L2, and not
//     launch        what a launch costs, one by one, in a row, and in a graph
//     data          the same work on zeros and on random numbers
//     spread        single timings of one short kernel, and of passes of many
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "machine.h"

namespace {

constexpr size_t mib = size_t{1} << 20;
constexpr int threads = 256;

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "experiments: %s: %s\n", doing, cudaGetErrorString(error));
  std::exit(2);
}

template <typename T>
T* allocate(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "memory for the buffers");
  return memory;
}

// ---- Clocks --------------------------------------------------------------------------------------

// Seconds that the device takes for what work() launches on `stream`, between two events.
double device_seconds(cudaStream_t stream, const std::function<void()>& work) {
  static cudaEvent_t start = nullptr, stop = nullptr;
  if (!start) check(cudaEventCreate(&start), "an event"), check(cudaEventCreate(&stop), "an event");
  check(cudaEventRecord(start, stream), "an event");
  work();
  check(cudaEventRecord(stop, stream), "an event");
  check(cudaEventSynchronize(stop), "a kernel");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, start, stop), "an event");
  return ms * 1e-3;
}

std::vector<double> samples(int count, const std::function<double()>& once) {
  once();  // warm up
  std::vector<double> seconds(static_cast<size_t>(count));
  for (double& s : seconds) s = once();
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

double median(int count, const std::function<double()>& once) {
  return samples(count, once)[static_cast<size_t>(count) / 2];
}

// ---- Latency -------------------------------------------------------------------------------------

// Follows `steps` links from *place on, and leaves there where it stopped, so that the next launch does not find in a
// cache what this one has read. One thread; each load waits for the one before.
__global__ void chase_kernel(const unsigned* __restrict__ next, unsigned steps, unsigned* place) {
  unsigned at = *place;
  for (unsigned i = 0; i < steps; i++) at = next[at];
  *place = at;
}

// Nanoseconds of a load from a chain that visits every 128-byte line of a buffer once, in random order.
double latency_ns(size_t bytes) {
  constexpr size_t stride = 32;  // unsigned ints in a line
  const size_t lines = bytes / 128;
  std::vector<unsigned> order(lines), next(lines * stride);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  for (size_t i = 0; i < lines; i++) {
    next[order[i] * stride] = static_cast<unsigned>(order[(i + 1) % lines] * stride);
  }
  unsigned* device = allocate<unsigned>(next.size());
  unsigned* place = allocate<unsigned>(1);
  check(cudaMemset(place, 0, 4), "cudaMemset");
  check(cudaMemcpy(device, next.data(), next.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  // Through the caches once before the clock starts, where the chain fits in them.
  const unsigned steps = static_cast<unsigned>(std::max<size_t>(2 * std::min<size_t>(lines, 100000), 20000));
  const double seconds =
      median(5, [&] { return device_seconds(nullptr, [&] { chase_kernel<<<1, 1>>>(device, steps, place); }); });
  cudaFree(device), cudaFree(place);
  return seconds / steps * 1e9;
}

// ---- Bytes in flight -----------------------------------------------------------------------------

// Reads `count` vectors, Loads of them in flight per thread; the grid goes over the buffer in turns.
template <int Loads>
__global__ void read_kernel(const float4* __restrict__ from, size_t count, float* sink) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  float sum = 0;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i + (Loads - 1) * step < count;
       i += Loads * step) {
    float4 v[Loads];
#pragma unroll
    for (int j = 0; j < Loads; j++) v[j] = from[i + j * step];
#pragma unroll
    for (int j = 0; j < Loads; j++) sum += v[j].x + v[j].y + v[j].z + v[j].w;
  }
  if (sum == -1.0f) *sink = sum;
}

template <int Loads>
void in_flight(const float4* from, size_t count, float* sink, int sms, bool* first) {
  for (const int a_multiprocessor : {32, 64, 128, 256, 512, 1024, 2048}) {
    const int block = std::min(a_multiprocessor, threads);
    const int grid = sms * (a_multiprocessor / block);
    const double seconds = median(
        7, [&] { return device_seconds(nullptr, [&] { read_kernel<Loads><<<grid, block>>>(from, count, sink); }); });
    std::printf("%s\n    {\"threads_an_sm\": %d, \"loads_a_thread\": %d, \"bytes_an_sm\": %d, \"gbs\": %.4g}",
                *first ? "" : ",", a_multiprocessor, Loads, a_multiprocessor * Loads * 16,
                static_cast<double>(count) * sizeof(float4) / seconds / 1e9);
    *first = false;
  }
}

// ---- Copies --------------------------------------------------------------------------------------

__global__ void copy_kernel(const float4* __restrict__ from, float4* __restrict__ to, size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < count) to[i] = from[i];
}

__global__ void fill_kernel(float4* to, size_t count, bool zeros) {
  const size_t i = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= count) return;
  unsigned state = static_cast<unsigned>(i) * 2654435761u + 1;
  float f[4];
  for (float& x : f) {
    state = (state ^ state >> 15) * 2246822519u + 3266489917u;
    x = zeros ? 0.0f : static_cast<float>(state >> 8) * 0x1p-24f;
  }
  to[i] = make_float4(f[0], f[1], f[2], f[3]);
}

unsigned blocks_for(size_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

// Seconds of a copy of `bytes`, one of `calls` in a graph that goes round `sets` pairs of buffers.
double copy_seconds(size_t bytes, int sets, int calls, float4* from, float4* to, cudaStream_t stream) {
  const size_t count = bytes / sizeof(float4);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
  for (int i = 0; i < calls; i++) {
    const size_t offset = static_cast<size_t>(i % sets) * count;
    copy_kernel<<<blocks_for(count), threads, 0, stream>>>(from + offset, to + offset, count);
  }
  check(cudaStreamEndCapture(stream, &graph), "a graph");
  check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
  const double seconds =
      median(21, [&] { return device_seconds(stream, [&] { check(cudaGraphLaunch(exec, stream), "a graph"); }); });
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  return seconds / calls;
}

// ---- Launches ------------------------------------------------------------------------------------

__global__ void empty_kernel() {}

double host_seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void launches(cudaStream_t stream) {
  constexpr int calls = 1000;
  const auto launch = [&] { empty_kernel<<<1, 32, 0, stream>>>(); };
  const auto all = [&] {
    for (int i = 0; i < calls; i++) launch();
  };
  const double waited =
      median(101, [&] { return host_seconds([&] { launch(), check(cudaStreamSynchronize(stream), "a kernel"); }); });
  const double queued =
      median(11, [&] { return host_seconds([&] { all(), check(cudaStreamSynchronize(stream), "a kernel"); }); });
  const double events = median(101, [&] { return device_seconds(stream, launch); });
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
  all();
  check(cudaStreamEndCapture(stream, &graph), "a graph");
  check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
  const double in_graph = median(11, [&] {
    return host_seconds(
        [&] { check(cudaGraphLaunch(exec, stream), "a graph"), check(cudaStreamSynchronize(stream), "a kernel"); });
  });
  std::printf("  \"launch\": {\"waited_for_us\": %.3g, \"between_events_us\": %.3g, \"queued_us\": %.3g, ",
              waited * 1e6, events * 1e6, queued / calls * 1e6);
  std::printf("\"in_a_graph_us\": %.3g},\n", in_graph / calls * 1e6);
}

void spread(float4* from, float4* to, cudaStream_t stream) {
  constexpr size_t count = 16 * mib / sizeof(float4);
  const auto copy = [&] { copy_kernel<<<blocks_for(count), threads, 0, stream>>>(from, to, count); };
  const auto first = [&] { return device_seconds(stream, copy); };
  const std::vector<double> one = samples(1000, first);
  const std::vector<double> passes = samples(200, [&] {
    return device_seconds(stream,
                          [&] {
                            for (int i = 0; i < 50; i++) copy();
                          }) /
           50;
  });
  for (const bool single : {true, false}) {
    const std::vector<double>& s = single ? one : passes;
    std::printf("  \"spread_%s\": {\"min_us\": %.4g, \"p05_us\": %.4g, \"median_us\": %.4g, \"p95_us\": %.4g, ",
                single ? "single" : "pass_of_50", s.front() * 1e6, s[s.size() / 20] * 1e6, s[s.size() / 2] * 1e6,
                s[s.size() * 19 / 20] * 1e6);
    std::printf("\"max_us\": %.4g, \"mean_us\": %.4g}%s\n", s.back() * 1e6,
                std::accumulate(s.begin(), s.end(), 0.0) / static_cast<double>(s.size()) * 1e6, single ? "," : "");
  }
}

}  // namespace

int main() {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "no CUDA device can be used");
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "a stream");
  constexpr size_t bytes = 1024 * mib;
  constexpr size_t count = bytes / sizeof(float4);
  float4 *from = allocate<float4>(count), *to = allocate<float4>(count);
  const auto fill = [&](bool zeros) { fill_kernel<<<blocks_for(count), threads>>>(from, count, zeros); };
  fill(false);
  check(cudaDeviceSynchronize(), "a kernel");

  std::printf("{\n  \"machine\": \"%s\",\n  \"date\": \"%s\",\n", device.name, bench::today().c_str());
  std::printf("  \"command\": \"make experiments\",\n");
  std::printf("  \"latency_ns\": {\"l1_16_kib\": %.4g, ", latency_ns(16 << 10));
  std::printf("\"l2_8_mib\": %.4g, \"l2_24_mib\": %.4g, ", latency_ns(8 * mib), latency_ns(24 * mib));
  std::printf("\"memory_1_gib\": %.4g},\n", latency_ns(1024 * mib));

  std::printf("  \"in_flight\": [");
  bool first = true;
  in_flight<1>(from, count, reinterpret_cast<float*>(to), device.multiProcessorCount, &first);
  in_flight<2>(from, count, reinterpret_cast<float*>(to), device.multiProcessorCount, &first);
  in_flight<4>(from, count, reinterpret_cast<float*>(to), device.multiProcessorCount, &first);
  in_flight<8>(from, count, reinterpret_cast<float*>(to), device.multiProcessorCount, &first);
  std::printf("],\n");

  // 8 MiB read and 8 written: well within L2, or 64 pairs of buffers, 1 GiB, well beyond it.
  std::printf("  \"cache\": {\"copied_mib\": 8, \"warm_us\": %.4g, ",
              copy_seconds(8 * mib, 1, 128, from, to, stream) * 1e6);
  std::printf("\"cold_us\": %.4g},\n", copy_seconds(8 * mib, 64, 128, from, to, stream) * 1e6);

  launches(stream);

  const double random_us = copy_seconds(bytes, 1, 4, from, to, stream) * 1e6;
  fill(true);
  std::printf("  \"data\": {\"copied_mib\": 1024, \"random_us\": %.5g, \"zeros_us\": %.5g},\n", random_us,
              copy_seconds(bytes, 1, 4, from, to, stream) * 1e6);

  spread(from, to, stream);
  std::printf("}\n");
}
