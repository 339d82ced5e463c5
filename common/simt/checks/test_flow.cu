// Where control goes in a kernel (instrument/flow.cpp): functions return to where they were called, and the stack stays
// in the thread's own local memory.
#include <alloca.h>

#include "checks/test_checks.h"

namespace {

// Moves what it finds on its stack that points near to itself, which is the address that it returns to.
__attribute__((noinline)) __device__ float returns_elsewhere(const float* x, uintptr_t by) {
  volatile uintptr_t own[2] = {};
  const auto here = reinterpret_cast<uintptr_t>(&returns_elsewhere);
  for (int i = 2; i < 32; i++) {
    if (own[i] - here + 65536 > 131072) continue;
    own[i] = own[i] + by;
    break;
  }
  return x[0] + static_cast<float>(own[0]);
}
__global__ void by_another_way(const float* x, float* y, uintptr_t by) { y[0] = returns_elsewhere(x, by); }

__attribute__((noinline)) __device__ float last_of(volatile float* all, int count) { return all[count - 1]; }
__attribute__((noinline)) __device__ float on_the_stack(const float* x, size_t bytes) {
  volatile float* const own = static_cast<volatile float*>(alloca(bytes));
  own[3] = x[3];
  return last_of(own, 4);
}
// As many bytes as lie between its stack and the middle of the matrix.
__global__ void allocates(const float* x, float* y, bool too_many) {
  const volatile char here = 0;
  const auto distance = reinterpret_cast<uintptr_t>(&here) - reinterpret_cast<uintptr_t>(x + 8192);
  y[threadIdx.x] = on_the_stack(x, too_many ? distance : 64);
}

__attribute__((noinline)) __device__ int sum_to(int i) {
  volatile int kept = i;
  return i == 0 ? 0 : sum_to(i - 1) + kept;
}
struct Shape {
  virtual __device__ float area(float x) const { return x; }
};
struct Square : Shape {
  __device__ float area(float x) const override { return x * x; }
};
__global__ void calls_much(float* y, float (*function)(float)) {
  struct alignas(64) {
    float values[16];
  } own;
  for (float& value : own.values) value = y[threadIdx.x];
  const Square square;
  const Shape* volatile shape = &square;
  y[threadIdx.x] = function(shape->area(own.values[threadIdx.x % 16])) + static_cast<float>(sum_to(threadIdx.x % 8));
}
__device__ float doubled(float x) { return 2 * x; }

}  // namespace

TEST_CASE("a kernel's function that returns to another address is found") {
  const std::string text = finding([] {
    by_another_way<<<1, 1>>>(floats(), floats(), 1);
    cudaDeviceSynchronize();
  });
  HAS(text, "memcheck: invalid address in block (0,0,0), thread (0,0,0)");
  HAS(text, "it returns to another address than it was called from");
  CHECK(finding([] {
          by_another_way<<<1, 1>>>(floats(), floats(), 0);
          cudaDeviceSynchronize();
        }).empty());
}

TEST_CASE("a stack pointer that leaves the thread's own stack is found") {
  CHECK(finding([] {
          allocates<<<1, n>>>(floats(), floats(), false);
          cudaDeviceSynchronize();
        }).empty());
  const std::string text = finding([] {
    allocates<<<1, 1>>>(floats(16384), floats(), true);
    cudaDeviceSynchronize();
  });
  HAS(text, "memcheck: invalid address in block (0,0,0), thread (0,0,0)");
  HAS(text, "its stack is not in its own local memory any more");
}

TEST_CASE("recursion, virtual functions, function pointers and aligned frames are right") {
  CHECK(finding([] {
          calls_much<<<1, n>>>(floats(), doubled);
          cudaDeviceSynchronize();
        }).empty());
}
