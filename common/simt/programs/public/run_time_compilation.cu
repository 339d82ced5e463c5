// Kernels in a string, as NVRTC's users have them: compiled while the program runs, loaded as a module, and launched by
// name. One is extern "C", one in a namespace and overloaded by its template arguments, one uses a header that is a
// string too.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                           \
  do {                                                                        \
    const int error = static_cast<int>(call);                                 \
    if (error) {                                                              \
      std::printf("FAIL: %s:%d: %s: %d\n", __FILE__, __LINE__, #call, error); \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

const char* const source = R"(
#include "scale.h"
static __constant__ float factors[4];
__device__ int calls;

extern "C" __global__ void reverse(const float* in, float* out, int n) {
  __shared__ float tile[THREADS];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) tile[threadIdx.x] = in[i];
  __syncthreads();
  if (i < n) out[i] = scaled(tile[THREADS - 1 - threadIdx.x], factors[i % 4]);
  if (threadIdx.x == 0) atomicAdd(&calls, 1);
}
namespace filters {
template <typename T, int by>
__global__ void shift(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(i + by) % n];
}
}  // namespace filters
struct Pair { char small; double large; };
__global__ void fill(Pair pair, short add, double* out) { out[threadIdx.x] = pair.small + pair.large + add; }
)";
const char* const header = "#pragma once\n__device__ inline float scaled(float x, float by) { return x * by; }\n";
const char* const shift = "filters::shift<double, 3>";
struct Pair {
  char small;
  double large;
};

std::string compile(const char* text, bool may_fail, std::string* shift_name) {
  nvrtcProgram program;
  const char* const name = "scale.h";
  CHECK(nvrtcCreateProgram(&program, text, "kernels.cu", 1, &header, &name));
  if (shift_name) CHECK(nvrtcAddNameExpression(program, shift));
  if (shift_name) CHECK(nvrtcAddNameExpression(program, "&calls"));
  const char* const options[] = {"--gpu-architecture=compute_90", "-DTHREADS=64", "-std=c++17"};
  const nvrtcResult result = nvrtcCompileProgram(program, 3, options);
  size_t bytes = 0;
  CHECK(nvrtcGetProgramLogSize(program, &bytes));
  std::string log(bytes, ' ');
  CHECK(nvrtcGetProgramLog(program, &log[0]));
  if (may_fail) {
    const bool told = result == NVRTC_ERROR_COMPILATION && log.find("nothing_of_this_name") != std::string::npos;
    if (!told) std::printf("FAIL: %d %s\n", result, log.c_str());
    CHECK(nvrtcDestroyProgram(&program));
    return told ? "told" : "";
  }
  if (result != NVRTC_SUCCESS) std::printf("FAIL: %s\n%s\n", nvrtcGetErrorString(result), log.c_str()), std::exit(1);
  const char* lowered = nullptr;
  if (shift_name) CHECK(nvrtcGetLoweredName(program, shift, &lowered));
  if (shift_name) *shift_name = lowered;
  CHECK(nvrtcGetPTXSize(program, &bytes));
  std::string image(bytes, ' ');
  CHECK(nvrtcGetPTX(program, &image[0]));
  CHECK(nvrtcDestroyProgram(&program));
  return image;
}

int main() {
  if (compile("__global__ void k() { nothing_of_this_name(); }", true, nullptr).empty()) return 1;
  std::string shift_name;
  const std::string image = compile(source, false, &shift_name);
  CHECK(cuInit(0));
  CUcontext context;
  CHECK(cuCtxCreate(&context, 0, 0));
  CUmodule module;
  if (cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n") != CUDA_ERROR_INVALID_IMAGE)
    std::puts("FAIL: PTX"), std::exit(1);
  CHECK(cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr));
  CUfunction reverse, shifted, fill;
  CHECK(cuModuleGetFunction(&reverse, module, "reverse"));
  CHECK(cuModuleGetFunction(&shifted, module, shift_name.c_str()));
  CHECK(cuModuleGetFunction(&fill, module, "_Z4fill4PairsPd"));
  if (cuModuleGetFunction(&fill, module, "fill") != CUDA_ERROR_NOT_FOUND) std::puts("FAIL: not mangled"), std::exit(1);
  CUdeviceptr factors, calls, in, out;
  size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&factors, &bytes, module, "factors"));
  const float by[] = {1, 2, 3, 4};
  if (bytes != sizeof by) std::puts("FAIL: another size"), std::exit(1);
  CHECK(cuMemcpyHtoD(factors, by, sizeof by));

  constexpr int n = 256, threads = 64;
  std::vector<float> values(n), results(n);
  for (int i = 0; i < n; i++) values[i] = i;
  CHECK(cuMemAlloc(&in, n * sizeof(double)));
  CHECK(cuMemAlloc(&out, n * sizeof(double)));
  CHECK(cuMemcpyHtoD(in, values.data(), n * sizeof(float)));
  int count = n;
  void* arguments[] = {&in, &out, &count};
  CHECK(cuLaunchKernel(reverse, n / threads, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(results.data(), out, n * sizeof(float)));
  for (int i = 0; i < n; i++) {
    if (results[i] != values[i / threads * threads + threads - 1 - i % threads] * by[i % 4])
      std::printf("FAIL: reverse, %d: %f\n", i, results[i]), std::exit(1);
  }
  int called = 0;
  CHECK(cuModuleGetGlobal(&calls, nullptr, module, "calls"));
  CHECK(cuMemcpyDtoH(&called, calls, sizeof called));
  if (called != n / threads) std::puts("FAIL: calls"), std::exit(1);

  std::vector<double> doubles(n), others(n);
  for (int i = 0; i < n; i++) doubles[i] = i * 0.5;
  CHECK(cuMemcpyHtoD(in, doubles.data(), n * sizeof(double)));
  CHECK(cuLaunchKernel(shifted, n / threads, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(others.data(), out, n * sizeof(double)));
  for (int i = 0; i < n; i++) {
    if (others[i] != doubles[(i + 3) % n]) std::printf("FAIL: shift, %d\n", i), std::exit(1);
  }

  struct {
    Pair pair;
    short add;
    CUdeviceptr out;
  } buffer = {{3, 0.25}, 40, out};
  size_t buffer_bytes = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &buffer_bytes,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuModuleGetFunction(&fill, module, "_Z4fill4PairsPd"));
  CHECK(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(cuMemcpyDtoH(others.data(), out, sizeof(double)));
  if (others[0] != 43.25) std::puts("FAIL: fill"), std::exit(1);
  int block = 0, grid = 0;
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, reverse, nullptr, 0, 0));
  CHECK(cuModuleUnload(module));
  CHECK(cuMemFree(in));
  CHECK(cuMemFree(out));
  CHECK(cuCtxDestroy(context));
  std::puts("PASS");
  return 0;
}
