// What a compiler does not announce is counted all the same, and once: accesses through constant and local arrays, in
// functions with attributes against it, by builtins and structures; atomics of the host's kind. Announced without being
// done, it is not counted.
#include <cstring>

#include "counters/test_kernels.h"
#include "timing/predictor.h"

#if defined(__x86_64__)

namespace {

constexpr int n = 32;

// ---- Loads of 4 bytes, one per thread ------------------------------------------------------------

__global__ void plainly(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

const float table[2] = {1, 2};
__global__ void through_a_constant(const float* x, float* y) {
  const long at = (reinterpret_cast<uintptr_t>(x + threadIdx.x) - reinterpret_cast<uintptr_t>(table)) / 4;
  y[threadIdx.x] = table[at];
}

__global__ void through_a_local_array(const float* x, float* y) {
  const float zero = x[0];
  float own[4] = {zero + 1, zero + 2, zero + 3, zero + 4}, beside[1] = {zero};
  // Where `own` is, without its address: found by its contents from the address of another.
  const float* volatile from = beside;
  const float* at = from;
  for (int i = -32; i < 32; i++) {
    if (from[i] == 1 && from[i + 1] == 2 && from[i + 2] == 3) at = from + i;
  }
  y[threadIdx.x] = own[(reinterpret_cast<uintptr_t>(x + threadIdx.x) - reinterpret_cast<uintptr_t>(at)) / 4];
}

__attribute__((no_sanitize("thread"), noinline)) float not_watched(const float* p) { return *p; }
__global__ void by_a_function_that_is_not_watched(const float* x, float* y) {
  y[threadIdx.x] = not_watched(x + threadIdx.x);
}

__global__ void by_memcpy(const float* x, float* y) {
  float value;
  memcpy(&value, x + threadIdx.x, sizeof value);
  y[threadIdx.x] = value;
}

// ---- Others ----------------------------------------------------------------------------------------

struct Three {
  float a, b, c;
};
struct Large {
  float values[64];
};
__global__ void copies_three(const Three* x, Three* y) {
  __builtin_memcpy(y + threadIdx.x, x + threadIdx.x, sizeof(Three));
}
__global__ void copies_large(const Large* x, Large* y) {
  if (threadIdx.x == 0) *y = *x;
}
__attribute__((noinline)) Large made(float value) {
  Large large = {};
  large.values[63] = value;
  return large;
}
__global__ void returns_into(const float* x, Large* y) {
  if (threadIdx.x == 0) *y = made(x[0]);
}
__attribute__((no_sanitize_thread, noinline)) void add_unwatched(int* p) { __atomic_fetch_add(p, 1, __ATOMIC_RELAXED); }
__global__ void hosts_atomics(int* sum) {
  __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
  add_unwatched(sum);
  atomicAdd(sum, 1);
}

__global__ void again_and_again(volatile float* x, float* y) {
  x[threadIdx.x] = x[threadIdx.x] + 1;
  y[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x];
}

__global__ void plainly_and_again(float* x, float* y) {
  const float once = x[threadIdx.x];
  y[threadIdx.x] = once + static_cast<volatile float*>(x)[threadIdx.x];
}

// Where a store may have been to the same place, nvcc loads again, of whatever type the two are; not where the pointer
// is __restrict__, and not for a store to shared memory. It leaves no store out if a load may have read what it wrote.
// Here as by nvcc 13.0 -arch=sm_90 -ptx.
__global__ void to_two_places(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] * 2;
  y[threadIdx.x + n] = x[threadIdx.x] * 3;
}
__global__ void of_another_type(const int* x, float* y) {
  y[threadIdx.x] = 1;
  const int once = x[threadIdx.x];
  y[threadIdx.x] = static_cast<float>(once);
  y[threadIdx.x + n] = static_cast<float>(x[threadIdx.x]);
}
__global__ void restricted(const float* __restrict__ x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] * 2;
  y[threadIdx.x + n] = x[threadIdx.x] * 3;
}
__global__ void beside_shared_memory(const float* x, float* y) {
  __shared__ float other[n];
  extern __shared__ float another[];
  other[threadIdx.x] = x[threadIdx.x];
  another[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = other[n - 1 - threadIdx.x] + x[threadIdx.x];
}

extern "C" void __tsan_read16(void*);
__global__ void only_says_so(float* x, float* y) {
  __tsan_read16(x + 4 * threadIdx.x);
  y[threadIdx.x] = 1;
}

// The second load of x is no announced one, and among the lane's last events is one that was: it is not counted again.
// Five events in each round, so that a full log comes between any two of them.
constexpr int rounds = 200;
__global__ void loads_twice(const float* x, float* y) {
  for (int i = 0; i < rounds; i++) {
    y[threadIdx.x] += x[threadIdx.x] + not_watched(x + threadIdx.x);
    y[threadIdx.x + n] = i;
  }
}

// Lanes that add to one address, and whose logs are full at different places of the atomic.
__global__ void adds_to_one(const float* ones, float* sum, int* largest) {
  for (int i = 0; i < rounds; i++) {
    float value = ones[threadIdx.x];
    for (int k = 0; k < i % 3; k++) value *= 2;
    atomicAdd(sum, value);
    if (i % 5 == 0) atomicMax(largest, (int)value);
  }
}

template <typename Kernel, typename In, typename Out>
simt::counters::Counts counts_of(Kernel kernel, In* in, Out* out) {
  return count_launch([&] { kernel<<<1, n, n * sizeof(float)>>>(in, out); }).total;
}

struct Buffers {
  float *x = nullptr, *y = nullptr;
  Buffers() {
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    const std::vector<float> zeros(1024, 0.0f);
    cudaMemcpy(x, zeros.data(), 4096, cudaMemcpyHostToDevice);
    cudaMemcpy(y, zeros.data(), 4096, cudaMemcpyHostToDevice);
  }
  ~Buffers() {
    cudaFree(x);
    cudaFree(y);
  }
};

using simt::counters::atomic;
using simt::counters::load;
using simt::counters::store;

}  // namespace

TEST_CASE("a load is counted, however it is written", "[unseen]") {
  const Buffers b;
  for (const auto kernel :
       {plainly, through_a_constant, through_a_local_array, by_a_function_that_is_not_watched, by_memcpy}) {
    const auto counts = counts_of(kernel, b.x, b.y);
    CHECK(counts.global[load].bytes == (kernel == through_a_local_array ? 2 * n * 4 : n * 4));
    CHECK(counts.global[load].requests == (kernel == through_a_local_array ? 2 : 1));
    CHECK(counts.global[store].bytes == n * 4);
    CHECK(counts.global[store].sectors == 4);
  }
}

TEST_CASE("each volatile load is counted", "[unseen]") {
  const Buffers b;
  auto counts = counts_of(again_and_again, b.x, b.y);
  CHECK(counts.global[load].requests == 3);
  CHECK(counts.global[store].requests == 2);
  counts = counts_of(plainly_and_again, b.x, b.y);
  CHECK(counts.global[load].requests == 2);
}

TEST_CASE("what is loaded is loaded again after a store that may have changed it", "[unseen]") {
  const Buffers b;
  auto counts = counts_of(to_two_places, b.x, b.y);
  CHECK(counts.global[load].requests == 2);
  CHECK(counts.global[store].requests == 2);
  counts = counts_of(of_another_type, reinterpret_cast<const int*>(b.x), b.y);
  CHECK(counts.global[load].requests == 2);
  CHECK(counts.global[store].requests == 3);
  counts = counts_of(restricted, b.x, b.y);
  CHECK(counts.global[load].requests == 1);
  counts = counts_of(beside_shared_memory, b.x, b.y);
  CHECK(counts.global[load].requests == 1);
}

TEST_CASE("structures are counted once, whatever moves them", "[unseen]") {
  const Buffers b;
  auto counts = counts_of(copies_three, reinterpret_cast<Three*>(b.x), reinterpret_cast<Three*>(b.y));
  CHECK(counts.global[load].bytes == n * sizeof(Three));
  CHECK(counts.global[store].bytes == n * sizeof(Three));
  counts = counts_of(copies_large, reinterpret_cast<Large*>(b.x), reinterpret_cast<Large*>(b.y));
  CHECK(counts.global[load].bytes == sizeof(Large));
  CHECK(counts.global[store].bytes == sizeof(Large));
  counts = counts_of(returns_into, b.x, reinterpret_cast<Large*>(b.y));
  CHECK(counts.global[load].bytes == 4);
  CHECK(counts.global[store].bytes >= sizeof(Large));
}

TEST_CASE("the host's atomics count as atomics", "[unseen]") {
  const Buffers b;
  const auto counts = count_launch([&] { hosts_atomics<<<1, n>>>(reinterpret_cast<int*>(b.x)); }).total;
  CHECK(counts.global[atomic].bytes == 3 * n * 4);
  CHECK(counts.global[load].bytes == 0);
  CHECK(counts.global[store].bytes == 0);
}

TEST_CASE("counts do not depend on when a log is full, nor on what else is in it", "[unseen]") {
  for (const char* const gpu : {"", "h200"}) {  // for a prediction basic blocks are recorded too
    simt::timing::predict_for(gpu);
    const Buffers b;
    CHECK(counts_of(loads_twice, b.x, b.y).global[load].bytes == 2 * n * 4 * rounds);  // and y
    const std::vector<float> ones(8 * n, 1.0f);
    cudaMemcpy(b.x, ones.data(), 8 * n * sizeof(float), cudaMemcpyHostToDevice);
    auto* const largest = reinterpret_cast<int*>(b.y + 1);
    const auto counts = count_launch([&] { adds_to_one<<<1, 8 * n>>>(b.x, b.y, largest); }).total;
    CHECK(counts.global[atomic].bytes == 8 * n * 4 * (rounds + rounds / 5));
  }
  simt::timing::predict_for("");
}

TEST_CASE("what is announced and not done does not count", "[unseen]") {
  const Buffers b;
  CHECK(counts_of(only_says_so, b.x, b.y).global[load].bytes == 0);
}

#endif
