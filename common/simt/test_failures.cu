// Kernels that cannot go on: each ends its process with a message that says who, where and why. Never a hang.
#include <cuda_runtime.h>

#include <fstream>
#include <string>

#include "launch_state.h"
#include "simt.h"
#include "testing_child.h"

namespace {

__global__ void missing_arrival(int* out) {
  if (threadIdx.x < 40) __syncthreads();
  if (threadIdx.x >= 40) __shfl_sync(0xffffffff, out[0], 0);  // lanes 32 to 39 of warp 1 never come
}

__global__ void lane_never_comes() {
  if (threadIdx.x != 3) __syncwarp();
  __syncthreads();
}

__global__ void null_pointer(int* out) {
  if (blockIdx.x == 1 && threadIdx.x == 5) out[2] = 1;
}

__global__ void stack_overflow(int* out) {
  volatile char local[100 * 1024];
  for (size_t i = sizeof local; i-- > 0;) local[i] = 1;
  out[0] = local[5];
}

// Its frame begins far beyond the guard page, and beyond all other stacks.
__global__ void large_frame(int* out) {
  volatile int local[1 << 22];
  local[0] = out[1];
  out[0] = local[0];
}

__device__ int recursion(int n) {
  volatile int frame[1024];
  frame[n % 1024] = n;
  return n == 0 ? 0 : recursion(n - 1) + frame[n % 1024];
}
__global__ void recurses(int* out) { out[0] = recursion(1 << 20); }

// Indices out of range, which lead far from the array or just beyond the stack.
__global__ void far_in_shared_memory(int* out, int index) {
  extern __shared__ int values[];
  values[index] = out[1];
}
__global__ void far_in_shared_variable(int* out, int index) {
  __shared__ volatile int variable[64];
  variable[index] = out[1];
  out[0] = variable[0];
}
__global__ void far_in_local_array(int* out, int index) {
  volatile int local[64];
  local[0] = out[1];
  for (int i = 0; i < 100; i++) local[i * index] = 1;
  out[0] = local[0];
}

__global__ void endless(volatile int* out) {
  while (out[0] == 0) {
  }
}

__device__ __attribute__((noinline)) void meet(int* out) {
  if (threadIdx.x != 3) __syncwarp();  // the barrier
  out[0] = 1;
}
__device__ __attribute__((always_inline)) inline void meet_inlined(int* out) {
  meet(out);  // the call in the function
  out[1] = 1;
}
__global__ void meets_in_calls(int* out) {
  meet_inlined(out);  // the call in the kernel
  __syncthreads();
}

__device__ __attribute__((noinline)) void write_to(int* out) { *out = 1; }
__global__ void null_pointer_in_a_call(int* out) {
  write_to(out);  // the call of the store
  __syncthreads();
}

__device__ __attribute__((noinline)) void wait_for(volatile int* flag) {
  while (flag[0] == 0) {  // the loop
  }
  flag[1] = 1;
}

__device__ void wait_inlined(volatile int* flag) {
  wait_for(flag);  // the call in it
  flag[2] = 1;
}

__global__ void calls_endless(volatile int* out) {
  wait_inlined(out);  // the kernel's call
  out[3] = 1;
}

__global__ void through_library(const float* from, float* to) {
  memcpy(to, from, 4096);
  __syncthreads();  // a call at the end would become a jump, which leaves no frame on the stack
}

#ifdef __x86_64__  // the only one of the two on which these crash
__global__ void divide(int* out) { out[0] = out[1] / out[2]; }

__global__ void misaligned(float* x) {
  float4 v = *reinterpret_cast<float4*>(x + 1);
  *reinterpret_cast<float4*>(x + 5) = v;
}
#endif

// What a process that does `body` prints to stderr before it ends.
template <typename Body>
std::string message_of(Body body, unsigned signal_after_ms = 0) {
  const ChildResult child = run_in_child(
      [&] {
        simt::install_signal_handlers();
        body();
        _exit(0);
      },
      signal_after_ms);
  INFO(child.text);
  REQUIRE(child.status == 134);
  return child.text;
}

int line_of(const std::string& code) { return line_with(__FILE__, code); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string at(const std::string& code) { return "test_failures.cu:" + std::to_string(line_of(code)); }

// An index of an int in shared memory of this OS thread that leads where nobody can write: at least 400,000 bytes
// beyond. What lies there otherwise, some library's variables or another thread's stack, is not the same everywhere.
int index_nobody_can_write() {
  constexpr uintptr_t margin = 16384;  // a variable lies a little before the dynamic shared memory
  const auto begin = reinterpret_cast<uintptr_t>(simt_dynamic_shared);
  uintptr_t address = begin + 400000;
  std::ifstream maps("/proc/self/maps");  // in the order of addresses
  for (std::string line; std::getline(maps, line);) {
    size_t dash;
    const uintptr_t first = std::stoull(line, &dash, 16), end = std::stoull(line.substr(dash + 1), nullptr, 16);
    const bool writable = line.substr(line.find(' ') + 1, 2) == "rw";
    if (writable && first < address + margin && address < end + margin) address = end + margin;
  }
  return static_cast<int>((address - begin) / sizeof(int));
}

}  // namespace

// simt::set_cores(1): a forked child has only the OS thread that forked.
TEST_CASE("a missing arrival names both lines") {
  DeviceArray<int> out(8, 0);
  const std::string text = message_of([&] {
    simt::set_cores(1);
    missing_arrival<<<3, 64>>>(out.data());
  });
  CAPTURE(text);
  REQUIRE(has(text, "__shfl_sync waits for lane 0, which has left in block (0,0,0)"));
  REQUIRE(has(text, "40 threads, (0,0,0) to (39,0,0), wait at "));
  REQUIRE(has(text, at("if (threadIdx.x < 40) __sync") + " in __syncthreads"));
  REQUIRE(has(text, "24 threads, (40,0,0) to (63,0,0), wait at "));
  REQUIRE(has(text, at("if (threadIdx.x >= 40) __shfl") + " in __shfl_sync for the lanes of mask 0xffffffff"));
}

TEST_CASE("a lane that never comes to a warp operation") {
  const std::string text = message_of([&] {
    simt::set_cores(1);
    lane_never_comes<<<1, 32>>>();
  });
  CAPTURE(text);
  REQUIRE(has(text, "1 thread, (3,0,0), waits at "));
  REQUIRE(has(text, "31 threads, (0,0,0) to (31,0,0), wait at "));
}

TEST_CASE("a crash names block, thread and line") {
  DeviceArray<int> out(8, 0);
  std::string text = message_of([&] {
    simt::set_cores(1);
    null_pointer<<<2, 32>>>(static_cast<int*>(nullptr));
  });
  CAPTURE(text);
  REQUIRE(has(text, "null pointer in block (1,0,0), thread (5,0,0) at "));
  REQUIRE(has(text, at("out[2] = 1")));
  REQUIRE(has(text, "address 0x8"));

#ifdef __x86_64__  // elsewhere the quotient is 0, and nobody notices
  text = message_of([&] {
    simt::set_cores(1);
    divide<<<1, 1>>>(out.data());
  });
  REQUIRE(has(text, "integer division by zero in block (0,0,0), thread (0,0,0) at "));
  REQUIRE(has(text, at("out[1] / out[2]")));
#endif

  text = message_of([&] {
    simt::set_cores(1);
    stack_overflow<<<1, 1>>>(out.data());
  });
  REQUIRE(has(text, "stack overflow in block (0,0,0), thread (0,0,0) at "));

  text = message_of([&] { large_frame<<<1, 1>>>(out.data()); });
  REQUIRE(has(text, "stack overflow in block (0,0,0), thread (0,0,0) at "));
  text = message_of([&] { recurses<<<1, 1>>>(out.data()); });
  REQUIRE(has(text, "stack overflow in block (0,0,0), thread (0,0,0) at "));
}

TEST_CASE("an index that is out of range is no stack overflow, and no memory of the host") {
  DeviceArray<int> out(8, 0);
  const int index = index_nobody_can_write();
  std::string text = message_of([&] {
    simt::set_cores(1);
    far_in_shared_memory<<<1, 32, 1024>>>(out.data(), index);
  });
  CAPTURE(text);
  REQUIRE(has(text, "invalid address in block "));
  REQUIRE(has(text, at("values[index] = out[1]")));
  REQUIRE(has(text, "The address is " + std::to_string(index * 4) +
                        " bytes after the beginning of the block's dynamic shared memory, which has 1024 bytes: is an "
                        "index out of range?"));
  text = message_of([&] {
    simt::set_cores(1);
    far_in_shared_variable<<<1, 32>>>(out.data(), index);
  });
  REQUIRE(has(text, "invalid address in block "));
  REQUIRE(has(text, "The address is near the block's shared memory, and in none of its arrays"));
  for (const int blocks : {1, 4}) {
    for (const int step : {4, 1000, -1000}) {
      text = message_of([&] { far_in_local_array<<<blocks, 32>>>(out.data(), step); });
      REQUIRE(has(text, "invalid address in block "));
      REQUIRE(has(text, "is an index of a local array out of range"));
    }
  }
}

#ifdef __x86_64__  // aarch64 allows misaligned vector accesses
TEST_CASE("a misaligned float4") {
  DeviceArray<float> x(64, 0.0f);
  const std::string text = message_of([&] {
    simt::set_cores(1);
    misaligned<<<1, 1>>>(x.data());
  });
  CAPTURE(text);
  REQUIRE(has(text, "misaligned or invalid address in block (0,0,0), thread (0,0,0) at "));
}
#endif

TEST_CASE("a crash inside a library function names the kernel's line") {
  const std::string text = message_of([&] {
    simt::set_cores(1);
    through_library<<<1, 1>>>(reinterpret_cast<const float*>(1 << 20), static_cast<float*>(nullptr));
  });
  CAPTURE(text);
  REQUIRE(has(text, at("memcpy(to, from, 4096)")));
}

TEST_CASE("an endless loop says where it is when it is asked") {
  DeviceArray<int> out(8, 0);
  const int first = line_of("while (out[0] == 0)");
  const std::string text = message_of(
      [&] {
        simt::set_cores(1);
        endless<<<1, 32>>>(out.data());
      },
      300);
  CAPTURE(text);
  REQUIRE(has(text, "timeout in block (0,0,0), thread (0,0,0) at "));
  REQUIRE((has(text, ":" + std::to_string(first)) || has(text, ":" + std::to_string(first + 1))));
}

TEST_CASE("a deadlock in a function says by which calls the thread came there that waits") {
  DeviceArray<int> out(8, 0);
  const std::string text = message_of([&] { meets_in_calls<<<1, 32>>>(out.data()); });
  CAPTURE(text);
  const auto line = [](const char* marked) { return std::to_string(line_of(marked)); };
  REQUIRE(has(text, "__syncwarp waits for lane 3, which has left in block (0,0,0), thread (0,0,0) at "));
  REQUIRE(has(text, ":" + line("// the barrier") + "\n"));
  REQUIRE(has(text, "\nThe kernel got there by calls at line " + line("// the call in the kernel") + " and line " +
                        line("// the call in the function") + "."));
}

TEST_CASE("a crash in a function says by which call the kernel came there") {
  const std::string text = message_of([] { null_pointer_in_a_call<<<1, 32>>>(nullptr); });
  CAPTURE(text);
  REQUIRE(has(text, "null pointer in block (0,0,0), thread (0,0,0) at "));
  REQUIRE(has(
      text, "\nThe kernel called this function at line " + std::to_string(line_of("// the call of the store")) + "."));
}

TEST_CASE("an endless loop in a function says by which calls the kernel came there") {
  DeviceArray<int> out(8, 0);
  const std::string text = message_of(
      [&] {
        simt::set_cores(1);
        calls_endless<<<1, 32>>>(out.data());
      },
      300);
  CAPTURE(text);
  REQUIRE(has(text, "timeout in block (0,0,0), thread (0,0,0) at "));
  REQUIRE(has(text, "\nThe kernel got there by calls at line " + std::to_string(line_of("// the kernel's call")) +
                        " and line " + std::to_string(line_of("// the call in it")) + "."));
}
