// Prints a GPU's roofs as a JSON object, with the keys that `roofs` for the CPU has: what bounds any kernel's speed on
// it.
//
//     roofs            measures (under 3 s, 2 GiB of the device's memory)
//     roofs --machine  prints the device's name, and measures nothing
//     roofs --slug     prints it as a file name
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "machine.h"
#include "timing.h"

namespace {

constexpr size_t gib = size_t{1} << 30;
constexpr int repeats = 15;
constexpr int threads = 256;

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "roofs: %s: %s\n", doing, cudaGetErrorString(error));
  std::exit(2);
}

// Copies `count` vectors of 16 bytes; four loads in flight per thread.
__global__ void copy_kernel(const float4* __restrict__ from, float4* __restrict__ to, size_t count) {
  const size_t first = static_cast<size_t>(blockIdx.x) * 4 * threads + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (first + i * threads < count) v[i] = from[first + i * threads];
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (first + i * threads < count) to[first + i * threads] = v[i];
  }
}

// Reads `count` vectors of 16 bytes, count a multiple of 8 * threads; eight loads in flight per thread. The sum is
// stored only if it is one that the data does not have: the loads must be made, and nothing is written.
__global__ void read_kernel(const float4* __restrict__ from, float* sink) {
  const size_t first = static_cast<size_t>(blockIdx.x) * 8 * threads + threadIdx.x;
  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = from[first + i * threads];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += v[i].x + v[i].y + v[i].z + v[i].w;
  if (sum == -1.0f) *sink = sum;
}

// Numbers in [0, 1) without a pattern that memory or caches could make use of.
__global__ void fill_kernel(float4* to, size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= count) return;
  unsigned state = static_cast<unsigned>(i) * 2654435761u + 1;
  float f[4];
  for (float& x : f) {
    state = (state ^ state >> 15) * 2246822519u + 3266489917u;
    x = static_cast<float>(state >> 8) * 0x1p-24f;
  }
  to[i] = make_float4(f[0], f[1], f[2], f[3]);
}

constexpr int chains = 8;  // independent ones per thread: together they hide an instruction's latency
constexpr int steps = 4096;

// chains * steps fused multiply-adds per thread. The values stay near 1. Block 0 writes how many cycles of its
// multiprocessor and how many nanoseconds it took.
__global__ void fma_kernel(float* sink, float factor, float term, long long* cycles, long long* nanoseconds) {
  long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  const long long start = clock64();
  float sum[chains];
  for (int i = 0; i < chains; i++) sum[i] = static_cast<float>(threadIdx.x + i);
  for (int step = 0; step < steps; step += 16) {
#pragma unroll
    for (int j = 0; j < 16; j++) {
#pragma unroll
      for (int i = 0; i < chains; i++) sum[i] = fmaf(sum[i], factor, term);
    }
  }
  float total = 0;
  for (int i = 0; i < chains; i++) total += sum[i];
  if (total == -1.0f) *sink = total;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *cycles = clock64() - start;
    const long long ns_begin = ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    *nanoseconds = ns - ns_begin;
  }
}

// chains * steps exponentials per thread, each of a number that the one before made: exp(-x) tends to 0.567.
__global__ void exp_kernel(float* sink) {
  float x[chains];
  for (int i = 0; i < chains; i++) x[i] = static_cast<float>(threadIdx.x + i) * 0x1p-8f;
  for (int step = 0; step < steps; step += 16) {
#pragma unroll
    for (int j = 0; j < 16; j++) {
#pragma unroll
      for (int i = 0; i < chains; i++) x[i] = __expf(-x[i]);
    }
  }
  float total = 0;
  for (int i = 0; i < chains; i++) total += x[i];
  if (total == -1.0f) *sink = total;
}

// Median seconds of work(), which launches one thing on the default stream; after warming up.
template <typename Work>
double median_seconds(Work&& work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> seconds;
  for (int repeat = -3; repeat < repeats; repeat++) {
    work();  // keeps the device busy until the timed one is queued
    check(cudaEventRecord(begin), "cudaEventRecord");
    work();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaGetLastError(), "a kernel");
    check(cudaDeviceSynchronize(), "a kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (repeat >= 0) seconds.push_back(1e-3 * milliseconds);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return bench::summarise(seconds).median;
}

// "580.159.04", as the driver's management library gives it; the CUDA version that the driver takes where there is
// none.
std::string driver_version() {
  if (void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    auto get = reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library, "nvmlSystemGetDriverVersion"));
    char version[128] = "";
    if (init && get && init() == 0 && get(version, sizeof version) == 0) return version;
  }
  int cuda = 0;
  check(cudaDriverGetVersion(&cuda), "cudaDriverGetVersion");
  return "CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

void measure(const cudaDeviceProp& device) {
  // At least 16 times the cache; less only where the device has less than four times that in all.
  size_t bytes = gib;
  while (bytes < 16 * static_cast<size_t>(device.l2CacheSize)) bytes *= 2;
  while (4 * bytes > device.totalGlobalMem) bytes /= 2;
  float4 *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, bytes), "memory for the buffers");
  check(cudaMalloc(&to, bytes), "memory for the buffers");
  float* sink = reinterpret_cast<float*>(to);
  long long *clocks = nullptr, host_clocks[2] = {};
  check(cudaMalloc(&clocks, sizeof host_clocks), "memory");
  const size_t vectors = bytes / sizeof(float4);
  const auto blocks = [&](size_t a_thread) { return static_cast<unsigned>(vectors / (a_thread * threads)); };
  fill_kernel<<<blocks(1), threads>>>(from, vectors);
  check(cudaDeviceSynchronize(), "a kernel");

  // The driver's copy or a plain kernel's, whichever is faster on this device.
  const double driver_copy =
      median_seconds([&] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy"); });
  const double kernel_copy = median_seconds([&] { copy_kernel<<<blocks(4), threads>>>(from, to, vectors); });
  const double copy = std::min(driver_copy, kernel_copy);
  const double read = median_seconds([&] { read_kernel<<<blocks(8), threads>>>(from, sink); });

  const unsigned full =
      static_cast<unsigned>(device.multiProcessorCount * device.maxThreadsPerMultiProcessor / threads);
  const double operations = 8.0 * full * threads * chains * steps;  // eight full loads of the device per launch
  const double fma = median_seconds([&] { fma_kernel<<<8 * full, threads>>>(sink, 0.5f, 0.5f, clocks, clocks + 1); });
  check(cudaMemcpy(host_clocks, clocks, sizeof host_clocks, cudaMemcpyDeviceToHost), "cudaMemcpy");
  const double exp = median_seconds([&] { exp_kernel<<<8 * full, threads>>>(sink); });

  const double size = static_cast<double>(bytes);
  std::printf("{\n");
  std::printf("  \"machine\": \"%s\",\n", device.name);
  std::printf("  \"date\": \"%s\",\n", bench::today().c_str());
  std::printf("  \"device\": \"%s, compute capability %d.%d, %d multiprocessors, %d MiB of L2\",\n", device.name,
              device.major, device.minor, device.multiProcessorCount, device.l2CacheSize >> 20);
  std::printf("  \"driver\": \"%s\",\n", driver_version().c_str());
  std::printf("  \"clock_mhz\": %.0f,\n",
              1e3 * static_cast<double>(host_clocks[0]) / static_cast<double>(host_clocks[1]));
  std::printf("  \"copy_gbs\": %.4g,\n", 2 * size / copy / 1e9);
  std::printf("  \"copy_by\": \"%s\",\n", kernel_copy < driver_copy ? "a kernel" : "cudaMemcpy");
  std::printf("  \"read_gbs\": %.4g,\n", size / read / 1e9);
  std::printf("  \"fma_gflops\": %.4g,\n", 2 * operations / fma / 1e9);
  std::printf("  \"fma_instructions\": \"FFMA\",\n");
  std::printf("  \"exp_gops\": %.4g,\n", operations / exp / 1e9);
  std::printf("  \"exp_function\": \"__expf: a multiplication and ex2.approx\",\n");
  std::printf("  \"buffer_mib\": %zu\n}\n", bytes >> 20);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string asked = argc == 2 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && asked != "--slug" && asked != "--machine")) {
    std::fprintf(stderr, "roofs: unknown argument '%s'. Usage: roofs [--machine | --slug]\n", argv[argc - 1]);
    return 2;
  }
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "no CUDA device can be used");
  if (asked == "--machine") {
    std::puts(device.name);
  } else if (asked == "--slug") {
    std::puts(bench::slug_of(device.name).c_str());
  } else {
    measure(device);
  }
}
