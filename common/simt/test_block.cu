// Grids, blocks, barriers, shared memory, atomics, launch syntax and limits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <unistd.h>

#include <numeric>

#include "simt.h"
#include "testing.h"

namespace {

__global__ void write_index(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * threads + thread] = block * threads + thread;
}

__global__ void reverse_twice(const int* in, int* out) {
  __shared__ int first[1024];
  static __shared__ int second[1024];
  const int t = threadIdx.x, n = blockDim.x;
  first[t] = in[blockIdx.x * n + t];
  __syncthreads();
  second[t] = first[n - 1 - t] + 1;
  __syncthreads();
  out[blockIdx.x * n + t] = second[n - 1 - t];
}

__global__ void barrier_votes(int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 5; i++) sum = sum * 1000 + __syncthreads_count(t < i * 7);
  const bool right =
      __syncthreads_or(t == 99) && !__syncthreads_or(0) && __syncthreads_and(t >= 0) && !__syncthreads_and(t);
  out[t] = right ? sum : -1;
}

__global__ void leave_early(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 0) return;
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

template <typename T, int scale>
__global__ __launch_bounds__(64) void scale_dynamic(const T* __restrict__ in, T* __restrict__ out, int n) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* row = reinterpret_cast<T*>(bytes);
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = in[i];
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = row[n - 1 - i] * T(scale);
}

__global__ void poisoned(int* out) {
  extern __shared__ int words[];
  out[blockIdx.x * 32 + threadIdx.x] = words[threadIdx.x];
  words[threadIdx.x] = 7;
}

__global__ void static_and_dynamic(int* out) {
  __shared__ int tile[1024];
  extern __shared__ int words[];
  tile[threadIdx.x] = words[0] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x] + words[0];
}

extern __shared__ float at_file_scope[];

__global__ void file_scope(float* out) {
  at_file_scope[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = at_file_scope[threadIdx.x ^ 1];
}

__constant__ float coefficients[4];
__device__ int counter;

__global__ void use_symbols(float* out) {
  out[threadIdx.x] = coefficients[threadIdx.x % 4];
  atomicAdd(&counter, 2);
}

template <typename T>
__global__ void sum_into(T* total, const T* values, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(total, values[i]);
}

// The block that comes last sums up the parts of all, a common pattern.
__global__ void last_block_sums(const float* values, float* parts, unsigned* ticket, float* out, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float part = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) part += values[i];
    parts[blockIdx.x] = part;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; b++) total += parts[b];
    *out = total;
  }
}

__global__ void spin_lock(int* lock, int* value) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *value = *value + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// In both warps lane 1 takes or wants the lock and waits for lane 2, which first lets lane 0 go on, to want the lock
// too.
__global__ void lock_held_by_a_later_lane(int* lock, int* value) {
  const unsigned lane = threadIdx.x % 32;
  const auto take = [&] {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
  };
  if (lane == 0 || lane == 2) __syncwarp(5);
  if (lane == 1) take();
  if (lane == 1 || lane == 2) __syncwarp(6);
  if (lane != 1) take();
  *value = *value + 1;
  atomicExch(lock, 0);
}

__global__ void each_atomic(int* i, unsigned* u, unsigned long long* l, float* f, half2* h2, __nv_bfloat16* b) {
  atomicSub(i, 1);
  atomicMax(i + 1, static_cast<int>(threadIdx.x));
  atomicMin(i + 2, -static_cast<int>(threadIdx.x));
  atomicAnd(u, ~(1u << threadIdx.x));
  atomicOr(u + 1, 1u << threadIdx.x);
  atomicXor(u + 2, threadIdx.x);
  atomicDec(u + 3, 100);
  atomicAdd(l, 1ull << 33);
  atomicExch(f, 2.5f);
  atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(b, __float2bfloat16(1.0f));
}

namespace inner {
__global__ void set(int* out, int value) { out[threadIdx.x] = value; }
}  // namespace inner

}  // namespace

TEST_CASE("every thread of every block runs once, in up to three dimensions") {
  for (dim3 grid : {dim3(7), dim3(3, 5), dim3(2, 3, 4)}) {
    for (dim3 block : {dim3(1), dim3(33), dim3(8, 4, 2), dim3(1024), dim3(2, 8, 64)}) {
      const int count = grid.x * grid.y * grid.z * block.x * block.y * block.z;
      DeviceArray<int> out(count, -1);
      write_index<<<grid, block>>>(out.data());
      std::vector<int> expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      REQUIRE(out.host() == expected);
    }
  }
}

TEST_CASE("__syncthreads orders shared memory") {
  for (int n : {1, 31, 256, 1000, 1024}) {
    DeviceArray<int> in(20 * n, 5), out(20 * n);
    reverse_twice<<<20, n>>>(in.data(), out.data());
    REQUIRE(out.host() == std::vector<int>(20 * n, 6));
  }
}

TEST_CASE("barriers count, and, or") {
  DeviceArray<int> out(128);
  barrier_votes<<<1, 128>>>(out.data());
  REQUIRE(out.host() == std::vector<int>(128, static_cast<int>(7014021028ll)));
}

TEST_CASE("threads that have returned count as arrived at a barrier") {
  DeviceArray<int> out(100, -1);
  leave_early<<<1, 100>>>(out.data());
  const auto got = out.host();
  for (int t = 0; t < 100; t++) REQUIRE(got[t] == (t % 3 == 0 ? -1 : 66));
}

TEST_CASE("launches: templates, namespaces, several lines, two to four arguments") {
  const int n = 1000;
  DeviceArray<float> in(n, 2.0f), out(n);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  scale_dynamic<float, 3><<<1, 64, n * sizeof(float), stream>>>(in.data(), out.data(), n);
  REQUIRE(out.host() == std::vector<float>(n, 6.0f));
  // clang-format off
  scale_dynamic<float,
                (2 > 1 ? 5 : 4)>
      <<<dim3(1),
         64, n * sizeof(float)
         >>>(in.data(),
             out.data(), n);
  REQUIRE(out.host() == std::vector<float>(n, 10.0f));
  DeviceArray<int> small(32);
  inner::set<<<1, 32>>>(small.data(), 1 << 3); inner::set<<<1, 16>>>(small.data(), 9);
  // clang-format on
  REQUIRE(small.host()[31] == 8);
  REQUIRE(small.host()[15] == 9);
  sum_into<<<2, 32>>>(small.data(), small.data() + 16, 4);  // the kernel's template argument is deduced
  REQUIRE(small.host()[0] == 9 + 4 * 8);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("shared memory starts as NaN in every block") {
  DeviceArray<int> out(3 * 32);
  poisoned<<<3, 32, 128>>>(out.data());
  REQUIRE(out.host() == std::vector<int>(3 * 32, -1));
}

TEST_CASE("dynamic shared memory declared outside of functions") {
  DeviceArray<float> out(4);
  file_scope<<<2, 4, 16>>>(out.data());
  REQUIRE(out.host() == std::vector<float>{1, 0, 3, 2});
}

TEST_CASE("__constant__ and __device__ variables") {
  const float host[4] = {1, 2, 3, 4};
  REQUIRE(cudaMemcpyToSymbol(coefficients, host, sizeof host) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(coefficients, host, sizeof host + 1) == cudaErrorInvalidValue);
  DeviceArray<float> out(8);
  use_symbols<<<1, 8>>>(out.data());
  REQUIRE(out.host() == std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4});
  int count = 0;
  REQUIRE(cudaMemcpyFromSymbol(&count, counter, sizeof count) == cudaSuccess);
  REQUIRE(count == 16);
}

TEST_CASE("results do not depend on the number of cores") {
  const int n = 20000;
  std::vector<float> host(n);
  for (int i = 0; i < n; i++) host[i] = 1.0f / (1 + i * 37 % 1009);
  DeviceArray<float> values(n);
  cudaMemcpy(values.data(), host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  const int cores = simt::cores();
  float totals[3], last[3];
  const int counts[3] = {1, 2, 5};
  for (int i = 0; i < 3; i++) {
    simt::set_cores(counts[i]);
    DeviceArray<float> total(1, 0.0f), parts(64), out(1);
    DeviceArray<unsigned> ticket(1, 0u);
    sum_into<float><<<64, 32>>>(total.data(), values.data(), n);
    last_block_sums<<<64, 32>>>(values.data(), parts.data(), ticket.data(), out.data(), n);
    totals[i] = total.host()[0];
    last[i] = out.host()[0];
  }
  simt::set_cores(cores);
  REQUIRE(totals[0] > 0);
  REQUIRE(totals[1] == totals[0]);
  REQUIRE(totals[2] == totals[0]);
  REQUIRE(last[1] == last[0]);
  REQUIRE(last[2] == last[0]);
}

TEST_CASE("atomics") {
  DeviceArray<int> i(3, 0);
  DeviceArray<unsigned> u(4, 0xffffffffu);
  cudaMemset(u.data() + 1, 0, 8);
  DeviceArray<unsigned long long> l(1, 1ull);
  DeviceArray<float> f(1, 0.0f);
  DeviceArray<half2> h2(1, __floats2half2_rn(0.0f, 0.0f));
  DeviceArray<__nv_bfloat16> b(1, __float2bfloat16(0.0f));
  each_atomic<<<1, 32>>>(i.data(), u.data(), l.data(), f.data(), h2.data(), b.data());
  REQUIRE(i.host() == std::vector<int>{-32, 31, -31});
  REQUIRE(u.host() == std::vector<unsigned>{0, 0xffffffffu, 0, 100 - 31});
  REQUIRE(l.host()[0] == 32 * (1ull << 33) + 1);
  REQUIRE(f.host()[0] == 2.5f);
  REQUIRE(__low2float(h2.host()[0]) == 32.0f);
  REQUIRE(__high2float(h2.host()[0]) == 64.0f);
  REQUIRE(__bfloat162float(b.host()[0]) == 32.0f);

  DeviceArray<int> lock(1, 0), value(1, 0);
  spin_lock<<<10, 64>>>(lock.data(), value.data());
  REQUIRE(value.host()[0] == 640);
}

TEST_CASE("whoever holds a lock has a turn while others spin") {
  DeviceArray<int> lock(1, 0), value(1, 0);
  alarm(20);  // should it not end
  lock_held_by_a_later_lane<<<1, 64>>>(lock.data(), value.data());
  alarm(0);
  REQUIRE(value.host()[0] == 64);
}

TEST_CASE("a launch beyond the limits returns the error that an H200 returns, and runs nothing") {
  DeviceArray<int> out(32, 3);
  const auto error_of = [&](dim3 grid, dim3 block, size_t shared = 0) {
    poisoned<<<grid, block, shared>>>(out.data());
    const cudaError_t error = cudaPeekAtLastError();
    REQUIRE(cudaGetLastError() == error);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return error;
  };
  REQUIRE(error_of(1, 1025) == cudaErrorInvalidValue);
  REQUIRE(error_of(1, dim3(32, 33)) == cudaErrorInvalidValue);
  REQUIRE(error_of(1, dim3(1, 1, 65)) == cudaErrorInvalidValue);
  REQUIRE(error_of(1, 0) == cudaErrorInvalidValue);
  REQUIRE(error_of(0, 32) == cudaErrorInvalidValue);
  REQUIRE(error_of(dim3(1, 65536), 32) == cudaErrorInvalidValue);
  REQUIRE(error_of(1, 32, 48 * 1024 + 1) == cudaErrorInvalidValue);
  REQUIRE(out.host() == std::vector<int>(32, 3));

  REQUIRE(cudaFuncSetAttribute(poisoned, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1) ==
          cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(poisoned, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024) == cudaSuccess);
  REQUIRE(error_of(1, 32, 227 * 1024) == cudaSuccess);
  REQUIRE(out.host() == std::vector<int>(32, -1));
  REQUIRE(cudaFuncSetAttribute(poisoned, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024) == cudaSuccess);
}

TEST_CASE("static and dynamic shared memory together have 48 KiB, unless the kernel asks for more") {
  DeviceArray<int> out(32);
  const auto error_of = [&](size_t dynamic) {
    static_and_dynamic<<<1, 32, dynamic>>>(out.data());
    return cudaGetLastError();
  };
  REQUIRE(error_of(44 * 1024) == cudaSuccess);
  REQUIRE(error_of(44 * 1024 + 4) == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(static_and_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024) ==
          cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(static_and_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 223 * 1024) ==
          cudaSuccess);
  REQUIRE(error_of(44 * 1024 + 4) == cudaSuccess);
  REQUIRE(error_of(223 * 1024) == cudaSuccess);
  REQUIRE(error_of(223 * 1024 + 4) == cudaErrorInvalidValue);
}

TEST_CASE("memory, events and properties") {
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, size_t{1} << 50) == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
  REQUIRE(cudaMalloc(&pointer, 1000) == cudaSuccess);
  REQUIRE(reinterpret_cast<uintptr_t>(pointer) % 256 == 0);
  REQUIRE(cudaMemset(pointer, 1, 1000) == cudaSuccess);
  unsigned char bytes[1000];
  REQUIRE(cudaMemcpy(bytes, pointer, 1000, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(bytes[999] == 1);
  REQUIRE(cudaMemcpy(bytes, nullptr, 1000, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  REQUIRE(cudaFree(pointer) == cudaSuccess);
  REQUIRE(cudaFree(pointer) == cudaErrorInvalidValue);
  cudaGetLastError();

  cudaEvent_t start, stop;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
  float milliseconds = -1;
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  cudaEventRecord(start);
  cudaEventRecord(stop);
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
  REQUIRE(milliseconds >= 0);
  cudaEvent_t untimed;
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(cudaEventRecord(untimed) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  cudaEventDestroy(untimed);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);

  int value = 0;
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
  REQUIRE(value == 227 * 1024);
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1) == cudaErrorInvalidDevice);
  cudaGetLastError();
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, poisoned, 256, 100 * 1024) == cudaSuccess);
  REQUIRE(value == 2);
  REQUIRE(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
}
