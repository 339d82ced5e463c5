// racecheck across blocks: results that one block hands to another through a flag, a ticket or a lock. Each mistake has
// a kernel that makes it and one that is near to it and right.
#include "checks/test_checks.h"

namespace {

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

// Blocks in turn; the last one makes the lock 0 again, after it has seen that all others came.
template <bool asks>
__global__ void pass_on(int* lock) {
  if (threadIdx.x > 0) return;
  if (asks) {
    while (*const_cast<volatile int*>(lock) != static_cast<int>(blockIdx.x)) {
    }
  }
  if (blockIdx.x + 1 == gridDim.x) {
    *lock = 0;
  } else {
    atomicAdd(lock, 1);
  }
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

}  // namespace

TEST_CASE("racecheck: the last block reads what the others published") {
  const auto zero = [] { return device(std::vector<unsigned>(1, 0)); };
  // A store of what is there already is no race with a read.
  const auto parts = [] { return device(std::vector<float>(512, 0.0f)); };
  const auto zeros = [] { return device(std::vector<int>(8, 0)); };
  CHECK(finding([&] { last_block_volatile<<<8, 32>>>(floats(), parts(), zero(), floats()); }).empty());
  CHECK(finding([&] { last_block_of_all<true><<<8, 64>>>(floats(), parts(), zero(), floats()); }).empty());
  HAS(finding([&] { last_block_of_all<false><<<8, 64>>>(floats(), parts(), zero(), floats()); }),
      "racecheck: race in global memory in block (7,0,0)");
  const std::string text = finding([&] { last_block_unfenced<false><<<8, 32>>>(floats(), parts(), zero(), floats()); });
  HAS(finding([&] { last_block_unfenced<true><<<8, 32>>>(floats(), parts(), zero(), floats()); }),
      "racecheck: race in global memory in block (7,0,0)");
  HAS(text, "racecheck: race in global memory in block (7,0,0)");
  HAS(text, "Does the writer call __threadfence()");
  CHECK(finding([&] { chained<true><<<8, 32>>>(floats(), parts(), zeros(), floats(256)); }).empty());
  HAS(finding([&] { chained<false><<<8, 32>>>(floats(), parts(), zeros(), floats(256)); }),
      "racecheck: race in global memory in block (1,0,0)");
}

TEST_CASE("racecheck: the last block may read what the others published, also where blocks take turns") {
  simt::run_blocks_in_turns(true);
  for (const unsigned blocks : {1, 8}) {
    const auto zero = device(std::vector<unsigned>(1, 0));
    CHECK(finding([&] {
            last_block<<<blocks, 32>>>(floats(), device(std::vector<float>(512, 0.0f)), zero, floats());
          }).empty());
  }
  simt::run_blocks_in_turns(false);
}

TEST_CASE("racecheck: loads and stores beside atomics") {
  CHECK(finding([] { add_by_exchange<<<4, n>>>(device(std::vector<double>(1, 0.0))); }).empty());
  HAS(finding([] { store_beside_atomic<<<1, n>>>(device(std::vector<int>(1, 0))); }),
      "racecheck: race in global memory");
}

TEST_CASE("racecheck: a store by a thread that has seen the atomics of other blocks there") {
  CHECK(finding([] { pass_on<true><<<4, n>>>(device(std::vector<int>(1, 0))); }).empty());
  HAS(finding([] { pass_on<false><<<4, n>>>(device(std::vector<int>(1, 0))); }), "racecheck: race in global memory");
}

TEST_CASE("racecheck understands atomics") {
  CHECK(finding([] {
          last_block<<<8, 32>>>(floats(), floats(), device(std::vector<unsigned>(1, 0)), floats());
        }).empty());
  CHECK(finding([] { histogram<<<4, n>>>(device(std::vector<int>(n, 3)), device(std::vector<int>(8, 0))); }).empty());
  CHECK(finding([] { locked<<<4, n>>>(device(std::vector<int>(1, 0)), device(std::vector<int>(1, 0))); }).empty());
}
