// The checks, each with a kernel that has the mistake and one that is near to it and right.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstring>
#include <string>

#include "checks/checks.h"
#include "simt.h"
#include "testing_child.h"

namespace {

constexpr int n = 64;

// --- kernels --------------------------------------------------------------------------------------------------------

__global__ void past_the_end(const float* x, float* y, int count) {
  const int i = threadIdx.x;
  if (i <= count) y[i] = x[i];  // one too many
}

__global__ void misaligned(const float* x, float* y) {
  const float4 v = *reinterpret_cast<const float4*>(x + 1 + threadIdx.x * 4);
  y[threadIdx.x] = v.x;
}

__global__ void past_dynamic_shared(float* y) {
  extern __shared__ float row[];
  row[threadIdx.x + 1] = 1.0f;
  y[threadIdx.x] = row[threadIdx.x + 1];
}

__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

template <bool barrier>
__global__ void reverse(const float* x, float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = x[threadIdx.x];
  if (barrier) __syncthreads();
  y[threadIdx.x] = row[n - 1 - threadIdx.x];  // reads what another thread wrote
}

template <bool barrier>
__global__ void tree(const float* x, float* y) {
  extern __shared__ float row[];
  const int t = threadIdx.x;
  row[t] = x[t];
  __syncthreads();
  for (int half = n / 2; half > 0; half /= 2) {
    if (t < half) row[t] += row[t + half];
    if (barrier) __syncthreads();
  }
  __syncthreads();
  if (t == 0) y[0] = row[0];
}

template <bool sync>
__global__ void within_a_warp(float* y) {
  __shared__ float row[32];
  row[threadIdx.x] = threadIdx.x;
  if (sync) __syncwarp();
  y[threadIdx.x] = row[threadIdx.x ^ 1];
}

__global__ void all_blocks_write_one(float* y) { y[threadIdx.x] = blockIdx.x; }

__device__ float passed_on;
template <bool between_blocks>
__global__ void through_a_variable(float* y) {
  if (threadIdx.x == 0 && (between_blocks || blockIdx.x == 0)) passed_on = blockIdx.x;
  __syncthreads();
  if (between_blocks || blockIdx.x == 0) y[blockIdx.x * blockDim.x + threadIdx.x] = passed_on;
}

__global__ void last_block(const float* x, float* parts, unsigned* ticket, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = parts[threadIdx.x];
}

// The last block without __threadfence() behind the store: what the others wrote need not have arrived.
template <bool fence_before>
__global__ void last_block_unfenced(const float* x, float* parts, unsigned* ticket, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    if (fence_before) __threadfence();
    parts[blockIdx.x] = x[blockIdx.x];
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = parts[threadIdx.x];
}

// All threads of a block store. The barrier comes before the atomic; or it does not.
template <bool barrier>
__global__ void last_block_of_all(const float* x, float* parts, unsigned* ticket, float* y) {
  __shared__ bool last;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
  __threadfence();
  if (barrier) __syncthreads();
  if (threadIdx.x == blockDim.x - 1) last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; b++) sum += parts[b * blockDim.x + threadIdx.x];
  y[threadIdx.x] = sum;
}

// CUDA's threadFenceReduction: the partial sums are volatile.
__global__ void last_block_volatile(const float* x, volatile float* parts, unsigned* ticket, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = parts[threadIdx.x];
}

// Each block waits for the one before it: a scan over blocks.
template <bool waits>
__global__ void chained(const float* x, float* sums, volatile int* flags, float* y) {
  __shared__ float before;
  if (threadIdx.x == 0) {
    const int b = blockIdx.x;
    if (waits) {
      while (b > 0 && flags[b - 1] == 0) {
      }
    }
    before = b > 0 ? sums[b - 1] : 0.0f;
    sums[b] = before + x[b];
    __threadfence();
    flags[b] = 1;
  }
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = before;
}

// atomicAdd of the programming guide, from before there was one for double.
__global__ void add_by_exchange(double* sum) {
  auto* address = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old = *address, assumed;
  do {
    assumed = old;
    old = atomicCAS(address, assumed, __double_as_longlong(1.0 + __longlong_as_double(assumed)));
  } while (assumed != old);
}

__global__ void store_beside_atomic(int* x) {
  if (threadIdx.x < 32) {
    atomicAdd(x, 1);
  } else if (threadIdx.x == 32) {
    *x = 0;
  }
}

// Neighbours' halves of one word; with `overlap` thread 1 reads thread 0's.
template <bool overlap>
__global__ void halves_of_a_word(unsigned short* y) {
  __shared__ unsigned short row[64];
  row[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = row[overlap ? threadIdx.x ^ 1 : threadIdx.x];
}

// A block reads a word that a later block writes, after all warps of that block have read it too.
__global__ void read_by_two_blocks(float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 0) x[0] = 1.0f;
}

__global__ void past_static_shared(float* y, int i) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x + i];
}

// Threads that do not fold run on to another barrier, and read what is not there yet.
__global__ void barrier_for_some(float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = 1.0f;
  __syncthreads();
  if (threadIdx.x < 32) {
    row[threadIdx.x] += row[threadIdx.x + 32];
    __syncthreads();
  }
  const float all = row[0];
  __syncthreads();
  y[threadIdx.x] = all;
}

// The second warp reads, without a barrier, where it is to write.
__global__ void index_from_a_race(float* y) {
  __shared__ int index[n];
  index[threadIdx.x] = 1 << 20;
  if (threadIdx.x >= 32) y[index[threadIdx.x - 32]] = 1.0f;
}

__global__ void trap_after_a_race(float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = 1.0f;
  y[threadIdx.x] = row[n - 1 - threadIdx.x];
  __syncthreads();
  __trap();
}

__global__ void histogram(const int* x, int* y) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[x[threadIdx.x] % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&y[threadIdx.x], counts[threadIdx.x]);
}

__global__ void locked(int* lock, int* value) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *value = *value + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__global__ void half_filled(float* y) {
  __shared__ float row[n];
  if (threadIdx.x < n / 2) row[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x];
}

__global__ void barrier_in_a_branch(float* y) {
  if (threadIdx.x < 32) {
    y[threadIdx.x] = 1.0f;
    __syncthreads();
  } else {
    y[threadIdx.x] = 2.0f;
    __syncthreads();
  }
}

__global__ void caller_outside_mask(float* y) { y[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 0); }

__global__ void source_outside_mask(float* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_down_sync(0x0000ffffu, 1.0f, 8);
}

// --- running them ---------------------------------------------------------------------------------------------------

// What a process prints that does `body` under the checks; "" if it found nothing.
template <typename Body>
std::string finding(Body body) {
  const ChildResult child = run_in_child([&] {
    simt::install_signal_handlers();
    simt::checks::start();
    body();
    _exit(cudaGetLastError() == cudaSuccess ? 0 : 3);
  });
  INFO(child.text);
  REQUIRE(child.status == (child.text.empty() ? 0 : 134));
  return child.text;
}

template <typename T>
T* device(const std::vector<T>& host) {
  T* data = nullptr;
  cudaMalloc(&data, host.size() * sizeof(T));
  cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return data;
}
float* floats(int count = n) { return device(std::vector<float>(count, 1.0f)); }

int line_of(const std::string& code) { return line_with(__FILE__, code); }

#define HAS(text, part)                            \
  do {                                             \
    INFO(text);                                    \
    INFO("should hold: " << (part));               \
    CHECK((text).find(part) != std::string::npos); \
  } while (0)
std::string at(const std::string& code) { return "test_checks.cu:" + std::to_string(line_of(code)); }

}  // namespace

TEST_CASE("memcheck: out of bounds in global memory names the element") {
  const std::string text = finding([] {
    float *x = floats(), *y = floats();
    simt::checks::name_buffer(x, "x", 2, 32, sizeof(float));
    simt::checks::name_buffer(y, "y", 2, 31, sizeof(float));
    past_the_end<<<1, n>>>(x, y, 62);
  });
  HAS(text, "memcheck: out of bounds in global memory in block (0,0,0), thread (62,0,0) at ");
  HAS(text, at("one too many"));
  HAS(text, "writes 4 bytes at element 62 of y[2 x 31], which has 62");
  CHECK(finding([] {
          float *x = floats(), *y = floats();
          simt::checks::name_buffer(x, "x", 2, 32, sizeof(float));
          simt::checks::name_buffer(y, "y", 2, 31, sizeof(float));
          past_the_end<<<1, n>>>(x, y, 61);
        }).empty());
}

TEST_CASE("memcheck: misaligned, shared, freed, null, host") {
  HAS(finding([] { misaligned<<<1, 8>>>(floats(), floats()); }), "memcheck: misaligned address in global memory");
  std::string text = finding([] { past_dynamic_shared<<<1, 32, 32 * sizeof(float)>>>(floats()); });
  HAS(text, "memcheck: out of bounds in shared memory in block (0,0,0), thread (31,0,0) at ");
  HAS(text, "byte 128 of the block's dynamic shared memory (128 bytes)");
  CHECK(finding([] { past_dynamic_shared<<<1, 32, 33 * sizeof(float)>>>(floats()); }).empty());
  text = finding([] {
    float *x = floats(), *y = floats();
    cudaFree(x);
    copy<<<1, n>>>(x, y);
  });
  HAS(text, "memcheck: freed memory");
  HAS(text, at("__global__ void copy"));
  HAS(finding([] { copy<<<1, n>>>(nullptr, floats()); }), "memcheck: null pointer");
  text = finding([] {
    const std::vector<float> host(n);
    copy<<<1, n>>>(host.data(), floats());
  });
  HAS(text, "memcheck: invalid address");
  HAS(text, "one of the host's");
}

TEST_CASE("memcheck: beside an allocation that has no name") {
  std::string text = finding([] { past_the_end<<<1, n>>>(floats(100), floats(n - 1), n); });
  HAS(text, "memcheck: out of bounds in global memory");
  HAS(text, "memory 1 byte past the end of an allocation of 252 bytes");
  text = finding([] { copy<<<1, n>>>(floats() - 4, floats()); });
  HAS(text, "memory 16 bytes before an allocation of 256 bytes");
}

TEST_CASE("memcheck: past all static shared memory") {
  const std::string text = finding([] { past_static_shared<<<1, 32>>>(floats(), 20000); });
  HAS(text, "memcheck: out of bounds in shared memory in block (0,0,0), thread (");
  HAS(text, at("tile[threadIdx.x + i]"));
  CHECK(finding([] { past_static_shared<<<1, 32>>>(floats(), 0); }).empty());
}

TEST_CASE("host code that touches device memory") {
  const std::string read = finding([] {
    volatile float* x = floats();
    x[0] = x[1];  // by the host
  });
  HAS(read, "host code touches device memory");
  HAS(read, ":" + std::to_string(line_of("by the host")));
  const std::string copied = finding([] {
    float* x = floats();
    std::vector<float> host(n);
    memcpy(host.data(), x, n * sizeof(float));  // in a library, too
  });
  HAS(copied, "host code touches device memory");
  // Between launches and after them, but not what belongs to both.
  CHECK(finding([] {
          float *x = floats(), *y = nullptr, *pinned = nullptr;
          cudaMallocManaged(&y, n * sizeof(float));
          cudaMallocHost(&pinned, n * sizeof(float));
          std::vector<float> own(n, 0.0f);
          cudaHostRegister(own.data(), n * sizeof(float), 0);
          y[0] = pinned[0] = own[0] = 2.0f;
          copy<<<1, n>>>(x, y);
          copy<<<1, n>>>(y, pinned);
          copy<<<1, n>>>(pinned, own.data());
          if (y[n - 1] != 1.0f || pinned[n - 1] != 1.0f || own[n - 1] != 1.0f) _exit(4);
          cudaFree(x);
          cudaFree(y);
          cudaFreeHost(pinned);
        }).empty());
}

TEST_CASE("racecheck: a missing barrier is found in every run, with both lines") {
  for (int i = 0; i < 10; i++) {
    const std::string text = finding([] { reverse<false><<<1, n>>>(floats(), floats()); });
    HAS(text, "racecheck: race in shared memory");
    HAS(text, at("row[threadIdx.x] = x[threadIdx.x];"));
    HAS(text, at("reads what another thread wrote"));
    HAS(text, " of row[64] at ");
  }
  CHECK(finding([] { reverse<true><<<1, n>>>(floats(), floats()); }).empty());
  HAS(finding([] { tree<false><<<1, n, n * sizeof(float)>>>(floats(), floats()); }),
      "racecheck: race in shared memory");
  CHECK(finding([] { tree<true><<<1, n, n * sizeof(float)>>>(floats(), floats()); }).empty());
}

TEST_CASE("racecheck: within a warp") {
  HAS(finding([] { within_a_warp<false><<<1, 32>>>(floats()); }), "__syncwarp()");
  CHECK(finding([] { within_a_warp<true><<<1, 32>>>(floats()); }).empty());
}

TEST_CASE("racecheck: between blocks") {
  const std::string text = finding([] { all_blocks_write_one<<<3, 32>>>(floats()); });
  HAS(text, "racecheck: race in global memory in block (1,0,0), thread (0,0,0) at ");
  HAS(text, "thread (0,0,0) of block (0,0,0) wrote the same bytes at ");
  CHECK(finding([] { all_blocks_write_one<<<1, 32>>>(floats()); }).empty());
}

TEST_CASE("racecheck: __device__ variables are global memory") {
  const std::string text = finding([] { through_a_variable<true><<<2, 32>>>(floats()); });
  HAS(text, "racecheck: race in global memory in block (1,0,0), thread (0,0,0) at ");
  HAS(text, at("passed_on = blockIdx.x;"));
  CHECK(finding([] { through_a_variable<false><<<2, 32>>>(floats()); }).empty());
}

TEST_CASE("racecheck: parts of a word") {
  const auto shorts = [] { return device(std::vector<unsigned short>(64)); };
  CHECK(finding([&] { halves_of_a_word<false><<<1, 64>>>(shorts()); }).empty());
  HAS(finding([&] { halves_of_a_word<true><<<1, 64>>>(shorts()); }), "racecheck: race in shared memory");
}

TEST_CASE("racecheck: a read is not forgotten when others read later") {
  HAS(finding([] { read_by_two_blocks<<<2, 128>>>(floats(), floats(256)); }), "of block (0,0,0) read the same bytes");
  CHECK(finding([] { read_by_two_blocks<<<1, 128>>>(floats(), floats(256)); }).empty());
}

TEST_CASE("racecheck: the last block reads what the others published") {
  const auto zero = [] { return device(std::vector<unsigned>(1, 0)); };
  const auto zeros = [] { return device(std::vector<int>(8, 0)); };
  CHECK(finding([&] { last_block_volatile<<<8, 32>>>(floats(), floats(), zero(), floats()); }).empty());
  CHECK(finding([&] { last_block_of_all<true><<<8, 64>>>(floats(), floats(512), zero(), floats()); }).empty());
  HAS(finding([&] { last_block_of_all<false><<<8, 64>>>(floats(), floats(512), zero(), floats()); }),
      "racecheck: race in global memory in block (7,0,0)");
  const std::string text =
      finding([&] { last_block_unfenced<false><<<8, 32>>>(floats(), floats(), zero(), floats()); });
  HAS(finding([&] { last_block_unfenced<true><<<8, 32>>>(floats(), floats(), zero(), floats()); }),
      "racecheck: race in global memory in block (7,0,0)");
  HAS(text, "racecheck: race in global memory in block (7,0,0)");
  HAS(text, "Does the writer call __threadfence()");
  CHECK(finding([&] { chained<true><<<8, 32>>>(floats(), floats(), zeros(), floats(256)); }).empty());
  HAS(finding([&] { chained<false><<<8, 32>>>(floats(), floats(), zeros(), floats(256)); }),
      "racecheck: race in global memory in block (1,0,0)");
}

TEST_CASE("racecheck: loads and stores beside atomics") {
  CHECK(finding([] { add_by_exchange<<<4, n>>>(device(std::vector<double>(1, 0.0))); }).empty());
  HAS(finding([] { store_beside_atomic<<<1, n>>>(device(std::vector<int>(1, 0))); }),
      "racecheck: race in global memory");
}

TEST_CASE("a barrier that only some threads reach comes before the race that follows from it") {
  const std::string text = finding([] { barrier_for_some<<<1, n>>>(floats()); });
  HAS(text, "synccheck: divergent barrier");
}

TEST_CASE("a race comes before the wrong address or the crash that follows from it") {
  HAS(finding([] { index_from_a_race<<<1, n>>>(floats()); }), "racecheck: race in shared memory");
  const ChildResult trap = run_in_child([] {
    simt::install_signal_handlers();
    simt::checks::start();
    trap_after_a_race<<<1, n>>>(floats());
    _exit(0);
  });
  HAS(trap.text, "racecheck: race in shared memory");
}

TEST_CASE("racecheck understands atomics") {
  CHECK(finding([] {
          last_block<<<8, 32>>>(floats(), floats(), device(std::vector<unsigned>(1, 0)), floats());
        }).empty());
  CHECK(finding([] { histogram<<<4, n>>>(device(std::vector<int>(n, 3)), device(std::vector<int>(8, 0))); }).empty());
  CHECK(finding([] { locked<<<4, n>>>(device(std::vector<int>(1, 0)), device(std::vector<int>(1, 0))); }).empty());
}

TEST_CASE("initcheck: shared and global memory that nothing wrote") {
  std::string text = finding([] { half_filled<<<1, n>>>(floats()); });
  HAS(text, "initcheck: uninitialised shared memory in block (0,0,0), thread (");
  HAS(text, at("y[threadIdx.x] = row[threadIdx.x];"));
  text = finding([] {
    float* x = nullptr;
    cudaMalloc(&x, n * sizeof(float));
    copy<<<1, n>>>(x, floats());
  });
  HAS(text, "initcheck: uninitialised global memory");
  CHECK(finding([] { half_filled<<<1, n / 2>>>(floats()); }).empty());
}

TEST_CASE("synccheck") {
  std::string text = finding([] { barrier_in_a_branch<<<1, n>>>(floats()); });
  HAS(text, "synccheck: divergent barrier");
  HAS(text, "32 threads, thread (0,0,0) first, came to __syncthreads at ");
  HAS(finding([] { caller_outside_mask<<<1, 32>>>(floats()); }), "synccheck: caller outside the mask");
  text = finding([] { source_outside_mask<<<1, 32>>>(floats()); });
  HAS(text, "synccheck: shuffle from a lane outside the mask");
  HAS(text, at("__shfl_down_sync(0x0000ffffu"));
}
