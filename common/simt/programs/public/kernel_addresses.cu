// Kernels kept as void*: in variables, in tables, and behind a function that takes any kernel.
#include <cstdio>
#include <map>
#include <string>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

__global__ void __launch_bounds__(64) set(int* items, int value) { items[threadIdx.x] = value; }

namespace kernels {
template <typename T>
__global__ void add(T* items, T value) {
  items[threadIdx.x] += value;
}
}  // namespace kernels

static const void* const table[] = {(const void*)set, (void*)&kernels::add<int>};

static cudaError_t launch(const void* kernel, int threads, void** arguments, cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(kernel, dim3(1), dim3(threads), arguments, 0, stream);
}

int main() {
  int* items;
  cudaMallocManaged(&items, 64 * sizeof(int));
  int value = 3;
  void* arguments[] = {&items, &value};
  EXPECT(launch(table[0], 64, arguments) == cudaSuccess);
  EXPECT(launch(table[1], 32, arguments) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && items[5] == 6 && items[40] == 3);
  std::map<std::string, void*> named = {{"set", reinterpret_cast<void*>(set)},
                                        {"add", reinterpret_cast<void*>(&kernels::add<int>)}};
  void* kernel = named["add"];
  EXPECT(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(64), arguments) == cudaSuccess);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  EXPECT(cudaLaunchKernelExC(&config, kernel, arguments) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && items[5] == 12 && items[40] == 9);

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT(launch(kernel, 64, arguments, stream) == cudaSuccess);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; i++) cudaGraphLaunch(executable, stream);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && items[40] == 15);

  EXPECT(launch(&value, 1, arguments) == cudaErrorInvalidDeviceFunction);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
