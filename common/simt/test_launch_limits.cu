// A launch that is refused says where it is, what limit it is beyond, what was asked and what to do.
#include <cuda_runtime.h>

#include <string>

#include "refusal.h"
#include "testing_child.h"

namespace {

__global__ void any_shape(int* out) { out[0] = 1; }

__global__ void __launch_bounds__(128, 4) bounded(int* out) { out[0] += threadIdx.x == 0; }
struct Twice {
  static constexpr int of(int threads) { return threads * 2; }
};
template <int threads, typename Times>
__launch_bounds__(Times::of(threads)) __global__ void bounded_by(int* out) {
  out[0] += threadIdx.x == 0;
}
template <typename T, int ways>
struct Ways {
  static constexpr unsigned threads = T::threads * ways;
};
struct Tile {
  static constexpr unsigned threads = 24;
};
constexpr int few = 48;
__global__ void __launch_bounds__(few) bounded_by_variable(int* out) { out[0] += threadIdx.x == 0; }
template <typename T>
__launch_bounds__(Ways<T, 3>::threads, 2) __global__ void bounded_by_member(int* out) {
  out[0] += threadIdx.x == 0;
}
__global__ void __launch_bounds__(32) bounded_where_declared(int* out);
__global__ void bounded_where_declared(int* out) { out[0] += threadIdx.x == 0; }
template <typename T>
__global__ void __launch_bounds__(40) bounded_and_deduced(const T* in, T* out, int count) {
  if (static_cast<int>(threadIdx.x) < count) out[0] += in[threadIdx.x] == 0;
}
__global__ void __launch_bounds__(5000) beyond_device(int* out) { out[0] += threadIdx.x == 0; }

extern __shared__ float dynamic[];
__global__ void with_dynamic(float* out) { out[threadIdx.x] = dynamic[threadIdx.x]; }
__global__ void asks_for_more(float* out) { out[threadIdx.x] = dynamic[threadIdx.x]; }

template <int bytes>
__global__ void with_static(float* out) {
  __shared__ float fixed[bytes / 4];
  fixed[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x] + dynamic[threadIdx.x];
}

extern "C" __global__ void named_as_in_c(float* out) {
  __shared__ float fixed[10000];
  fixed[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x];
}

// What the executor says of the last launch. The launch must have returned an error, and nothing has run.
std::string refused(const std::string& code, cudaError_t expected = cudaErrorInvalidValue) {
  REQUIRE(cudaGetLastError() == expected);
  const simt::Refusal& refusal = simt::last_refusal();
  REQUIRE(refusal.error == expected);
  REQUIRE(refusal.file == std::string(__FILE__));
  REQUIRE(refusal.line == line_with(__FILE__, code));
  const std::string text = refusal.text;
  simt::forget_refusal();
  return text;
}

void says(const std::string& text, const std::string& limit, const std::string& asked) {
  INFO(text);
  const size_t end = text.find('\n');
  REQUIRE(end != std::string::npos);
  CHECK(text.substr(0, end) == "launch refused: " + limit);
  CHECK(text.find(asked, end) != std::string::npos);
}

void says_of_call(const std::string& text, const std::string& limit) {
  INFO(text);
  CHECK(text.find("cudaFuncSetAttribute refused: " + limit + "\n") == 0);
}

}  // namespace

TEST_CASE("grids and blocks beyond the limits") {
  DeviceArray<int> out(32, 0);
  any_shape<<<7, 2048>>>(out.data());
  says(refused("<<<7, 2048"), "more threads than the 1024 that a block can have",
       "(7,1,1), (2048,1,1), 0>>> asks for 2048 threads per block");
  any_shape<<<1, dim3(32, 33)>>>(out.data());
  says(refused("dim3(32, 33)"), "more threads than the 1024 that a block can have", "asks for 1056 threads per block");
  any_shape<<<1, dim3(1, 1, 65)>>>(out.data());
  says(refused("dim3(1, 1, 65)"), "block.z is above its limit of 64", "block.z = 65");
  any_shape<<<dim3(1, 70000), 32>>>(out.data());
  says(refused("dim3(1, 70000)"), "grid.y is above its limit of 65535", "grid.y = 70000.\nOnly grid.x can be larger");
  any_shape<<<dim3(1, 1, 65536), 32>>>(out.data());
  says(refused("dim3(1, 1, 65536)"), "grid.z is above its limit of 65535", "grid.z = 65536");
  any_shape<<<1u << 31, 32>>>(out.data());
  says(refused("1u << 31"), "grid.x is above its limit of 2147483647", "grid.x = 2147483648");
  any_shape<<<0, 64>>>(out.data());
  says(refused("<<<0, 64"), "grid.x is 0, and must be at least 1", "round it up");
  any_shape<<<1, dim3(64, 0)>>>(out.data());
  says(refused("dim3(64, 0)"), "block.y is 0, and must be at least 1", "(1,1,1), (64,0,1), 0>>>");
  void* pointer = nullptr;
  void* arguments[] = {&pointer};
  cudaLaunchKernel(any_shape, 3, 4096, arguments);
  says(refused("any_shape, 3, 4096"), "more threads than the 1024 that a block can have", "4096 threads");
  CHECK(out.host() == std::vector<int>(32, 0));
}

TEST_CASE("blocks beyond a kernel's launch bounds") {
  DeviceArray<int> out(32, 0);
  const std::string beyond_128 = "more threads than the 128 that the kernel's __launch_bounds__ allow";
  bounded<<<1, 129>>>(out.data());
  says(refused("<<<1, 129"), beyond_128, "(1,1,1), (129,1,1), 0>>> asks for 129 threads per block");
  bounded<<<1, dim3(32, 5)>>>(out.data());
  says(refused("dim3(32, 5)"), beyond_128, "asks for 160 threads per block");
  bounded_by<32, Twice><<<1, 65>>>(out.data());
  says(refused("<<<1, 65"), "more threads than the 64 that the kernel's __launch_bounds__ allow",
       "asks for 65 threads");
  bounded_by<96, Twice><<<1, 256>>>(out.data());
  says(refused("Twice><<<1, 256"), "more threads than the 192 that the kernel's __launch_bounds__ allow",
       "asks for 256 threads");
  bounded_by_variable<<<1, 49>>>(out.data());
  says(refused("<<<1, 49"), "more threads than the 48 that the kernel's __launch_bounds__ allow",
       "asks for 49 threads");
  bounded_by_member<Tile><<<1, 73>>>(out.data());
  says(refused("<<<1, 73"), "more threads than the 72 that the kernel's __launch_bounds__ allow",
       "asks for 73 threads");
  bounded_and_deduced<<<1, 41>>>(out.data(), out.data(), 1);
  says(refused("<<<1, 41"), "more threads than the 40 that the kernel's __launch_bounds__ allow",
       "asks for 41 threads");
  bounded_where_declared<<<1, 33>>>(out.data());
  says(refused("<<<1, 33"), "more threads than the 32 that the kernel's __launch_bounds__ allow",
       "asks for 33 threads");
  void* pointer = nullptr;
  void* arguments[] = {&pointer};
  cudaLaunchKernel(bounded, 3, 192, arguments);
  says(refused("bounded, 3, 192"), beyond_128, "asks for 192 threads");
  cudaLaunchCooperativeKernel(bounded, 3, 160, arguments);
  says(refused("bounded, 3, 160"), beyond_128, "asks for 160 threads");
  CHECK(out.host() == std::vector<int>(32, 0));

  bounded<<<1, 128>>>(out.data());
  bounded_by<32, Twice><<<1, 64>>>(out.data());
  beyond_device<<<1, 1024>>>(out.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(out.host()[0] == 3);

  const auto allowed = [](auto* kernel) {
    cudaFuncAttributes attributes;
    REQUIRE(cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess);
    return attributes.maxThreadsPerBlock;
  };
  CHECK(allowed(bounded) == 128);
  CHECK(allowed(bounded_by<500, Twice>) == 1000);
  CHECK(allowed(beyond_device) == 1024);
  CHECK(allowed(any_shape) == 1024);

  // As on an H200: blocks beyond the bound are counted, and not suggested.
  int grid = 0, block = 0, blocks = -1;
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded) == cudaSuccess);
  CHECK(block == 128);
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0) == cudaSuccess);
  CHECK(blocks == 8);
}

TEST_CASE("more shared memory than there is, or than was asked for") {
  DeviceArray<float> out(64);
  with_dynamic<<<1, 64, 50000>>>(out.data());
  says(refused("64, 50000"), "more than 49,152 bytes of shared memory, and the kernel has not asked for that",
       "asks for 50,000 bytes.\nCall cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) "
       "before the launch");
  with_dynamic<<<1, 64, 240000>>>(out.data());
  says(refused("64, 240000"), "more shared memory than the 232,448 bytes that a block can have",
       "asks for 240,000 bytes");
  REQUIRE(cudaFuncSetAttribute(asks_for_more, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) == cudaSuccess);
  asks_for_more<<<1, 64, 60004>>>(out.data());
  says(refused("64, 60004"), "more dynamic shared memory than cudaFuncSetAttribute has allowed for this kernel",
       "asks for 60,004 bytes; allowed are 60,000 bytes");

  const std::string too_static =
      "more than 49,152 bytes in the kernel's __shared__ arrays, which nvcc refuses to compile";
  with_static<64000><<<1, 64>>>(out.data());
  says(refused("with_static<64000><<<1, 64>"), too_static, "is of a kernel with 64,000 bytes");
  REQUIRE(cudaFuncSetAttribute(with_static<64000>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000) == cudaSuccess);
  with_static<64000><<<1, 64, 256>>>(out.data());
  says(refused("with_static<64000><<<1, 64, 256>"), too_static, "shared memory must be dynamic");
  with_static<40000><<<1, 64, 10000>>>(out.data());
  says(refused("with_static<40000>"), "more than 49,152 bytes of static and dynamic shared memory together",
       "asks for 10,000 bytes, and the kernel's __shared__ arrays have 40,000 bytes");
  // Whoever has asked for dynamic memory, for however little, has its own arrays besides.
  REQUIRE(cudaFuncSetAttribute(with_static<40004>, cudaFuncAttributeMaxDynamicSharedMemorySize, 10000) == cudaSuccess);
  with_static<40004><<<1, 64, 10000>>>(out.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);

  REQUIRE(cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000) != cudaSuccess);
  const std::string text = refused("with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000");
  CHECK(text == "cudaFuncSetAttribute refused: a block can have 232,448 bytes of shared memory\nIt asks for 300000.");
  // Its own arrays count, too.
  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  REQUIRE(cudaFuncSetAttribute(with_static<40000>, attribute, 192448) == cudaSuccess);
  REQUIRE(cudaFuncSetAttribute(with_static<40000>, attribute, 192449) != cudaSuccess);
  says_of_call(
      refused("with_static<40000>, attribute, 192449"),
      "a block can have 232,448 bytes of shared memory, and the kernel's __shared__ arrays take 40,000 of them");
}

TEST_CASE("a cooperative launch that does not fit") {
  void* pointer = nullptr;
  void* arguments[] = {&pointer};
  const auto too_large = cudaErrorCooperativeLaunchTooLarge;
  const std::string limit = "a cooperative launch with more blocks than the device can hold at once";
  cudaLaunchCooperativeKernel(any_shape, 265, 1024, arguments);
  says(refused("any_shape, 265, 1024", too_large), limit,
       "asks for 265 blocks; 2 of 1024 threads and 0 bytes of shared memory fit");
  // Static shared memory takes room, too.
  cudaLaunchCooperativeKernel(with_static<40000>, 800, 64, arguments);
  says(refused("with_static<40000>, 800", too_large), limit, "5 of 64 threads and 40,000 bytes of shared memory fit");
}

TEST_CASE("what else the runtime refuses is remembered, too") {
  simt::forget_refusal();
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, size_t{1} << 50) == cudaErrorMemoryAllocation);
  CHECK(simt::last_refusal().error == cudaErrorMemoryAllocation);
  CHECK(simt::last_refusal().text == std::string("cudaMalloc returned it"));
  cudaGetLastError();
}

TEST_CASE("a copy that runs past the end of an allocation is refused, and nothing is written") {
  simt::forget_refusal();
  float* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 400) == cudaSuccess);
  float host[200] = {};
  const std::string has = "bytes, and from its pointer on the allocation has ";
  const auto refuses = [&](cudaError_t error, const std::string& call, const std::string& asked) {
    CHECK(error == cudaErrorInvalidValue);
    const std::string text = simt::last_refusal().text;
    INFO(text);
    CHECK(text.find(call + " refused: it runs past the end of an allocation\n") == 0);
    CHECK(text.find(asked) != std::string::npos);
    simt::forget_refusal();
    cudaGetLastError();
  };
  refuses(cudaMemcpy(pointer, host, 800, cudaMemcpyHostToDevice), "cudaMemcpy", "800 " + has + "400.");
  refuses(cudaMemcpy(host, pointer + 90, 41, cudaMemcpyDeviceToHost), "cudaMemcpy", "41 " + has + "40.");
  refuses(cudaMemset(pointer + 1, 0, 400), "cudaMemset", "400 " + has + "396.");
  CHECK(cudaMemset(pointer, 0, 400) == cudaSuccess);
  CHECK(cudaMemcpy(host, pointer + 90, 40, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaFree(pointer);
}

TEST_CASE("static shared memory is known, also of a kernel with a name as in C") {
  cudaFuncAttributes attributes = {};
  REQUIRE(cudaFuncGetAttributes(&attributes, named_as_in_c) == cudaSuccess);
  CHECK(attributes.sharedSizeBytes ==
        40000);  // 228 KiB are five times 40,000 bytes and the KiB that each block takes besides.
  int blocks = 0;
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, named_as_in_c, 128, 0) == cudaSuccess);
  CHECK(blocks == 5);
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, named_as_in_c, 128, 20000) == cudaSuccess);
  CHECK(blocks == 3);
  size_t bytes = 0;
  REQUIRE(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, named_as_in_c, 5, 128) == cudaSuccess);
  CHECK(bytes == 228 * 1024 / 5 / 128 * 128 - 1024 - 40000);
}
