// The experiments of chapter 12: prints JSON, microseconds by experiment.
// On a GPU:      nvcc -O3 -arch=native theory/how_long.cu -o build/how_long && build/how_long
// Without one:   common/simt/simtcc --profile theory/how_long.cu -o build/how_long && build/how_long 1
// 2>build/how_long.txt The argument says how often each kernel is timed after one run that warms up; the best time
// counts, less that of a kernel that does nothing. Without a GPU times are predicted, and one is enough.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "how_long: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// A chain of multiplications and additions, each of which needs the one before.
__global__ void chain(float* out, int steps, float a) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < steps; i++) x = x * a + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// `chains` of them side by side in one thread.
template <int chains>
__global__ void chains_of(float* out, int steps, float a) {
  float x[chains];
  for (int c = 0; c < chains; c++) x[c] = static_cast<float>(threadIdx.x + c);
  for (int i = 0; i < steps; i++) {
#pragma unroll
    for (int c = 0; c < chains; c++) x[c] = x[c] * a + 1.0f;
  }
  float sum = 0;
  for (int c = 0; c < chains; c++) sum += x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each thread has `loads` of 16 bytes under way at a time.
template <int loads>
__global__ void read(const float4* in, float* out, int rounds) {
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    float4 v[loads];
#pragma unroll
    for (int k = 0; k < loads; k++)
      v[k] = in[((static_cast<size_t>(r) * gridDim.x + blockIdx.x) * loads + k) * blockDim.x + threadIdx.x];
#pragma unroll
    for (int k = 0; k < loads; k++) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void nothing() {}

int repeats = 5;
const char* separator = "";

template <typename Launch>
double best_us(Launch launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float best = 1e30f;
  for (int i = 0; i <= repeats; i++) {
    check(cudaEventRecord(begin));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i && ms < best) best = ms;
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return best * 1e3;
}

template <typename Launch>
void time_of(const char* name, Launch launch) {
  static const double overhead = best_us([] { nothing<<<1, 32>>>(); });
  std::printf("%s\n  \"%s\": %.4g", separator, name, best_us(launch) - overhead);
  separator = ",";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) repeats = std::atoi(argv[1]);
  constexpr int multiprocessors = 132, steps = 8192;
  constexpr size_t bytes = size_t{128} << 20;  // more than the L2
  constexpr int two_per_sm = 100 << 10;        // bytes of shared memory, of which an SM has 228 KiB
  float *in, *out;
  check(cudaMalloc(&in, bytes));
  check(cudaMalloc(&out, 1 << 22));
  check(cudaMemset(in, 0, bytes));
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  check(cudaFuncSetAttribute(chain, cudaFuncAttributeMaxDynamicSharedMemorySize, two_per_sm));
  std::printf("{\"machine\": \"%s\", \"us\": {", device.name);
  time_of("warps_1", [&] { chain<<<1, 32>>>(out, steps, 0.5f); });
  time_of("warps_4", [&] { chain<<<1, 128>>>(out, steps, 0.5f); });
  time_of("warps_16", [&] { chain<<<1, 512>>>(out, steps, 0.5f); });
  time_of("warps_32", [&] { chain<<<1, 1024>>>(out, steps, 0.5f); });
  time_of("chains_2", [&] { chains_of<2><<<1, 32>>>(out, steps, 0.5f); });
  time_of("chains_4", [&] { chains_of<4><<<1, 32>>>(out, steps, 0.5f); });
  time_of("chains_8", [&] { chains_of<8><<<1, 32>>>(out, steps, 0.5f); });
  time_of("blocks_264", [&] { chain<<<2 * multiprocessors, 128, two_per_sm>>>(out, steps, 0.5f); });
  time_of("blocks_265", [&] { chain<<<2 * multiprocessors + 1, 128, two_per_sm>>>(out, steps, 0.5f); });
  constexpr int threads = 256, each = multiprocessors * threads * 16;
  const auto* vectors = reinterpret_cast<const float4*>(in);
  time_of("loads_1", [&] { read<1><<<multiprocessors, threads>>>(vectors, out, static_cast<int>(bytes / each)); });
  time_of("loads_4", [&] { read<4><<<multiprocessors, threads>>>(vectors, out, static_cast<int>(bytes / each / 4)); });
  time_of("loads_8", [&] { read<8><<<multiprocessors, threads>>>(vectors, out, static_cast<int>(bytes / each / 8)); });
  std::printf("}}\n");
}
