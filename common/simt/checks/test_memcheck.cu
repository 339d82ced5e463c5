// memcheck, and memory that is read before it is written. Each mistake has a kernel that makes it and one that is near
// to it and right.
#include "checks/test_checks.h"

// Kernels that are not static: of these the symbol table says that they are kernels.
template <int Of>
__global__ void past_its_own(float* y, int i) {
  __shared__ float own[64];
  own[threadIdx.x] = 1.0f;
  own[threadIdx.x + i] = 2.0f;
  y[threadIdx.x] = own[threadIdx.x];
}

namespace {

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

__global__ void add_one(float* x) { atomicAdd(&x[threadIdx.x], 1.0f); }

// As a kernel may call the executor's functions itself.
__global__ void asks_for_a_lane(const uint64_t* of, float* y, bool own) {
  const simt::Exchanged brought = simt::warp_exchange(0xffffffff, threadIdx.x, {"", 0, simt::Call::shfl});
  y[threadIdx.x] = static_cast<float>(simt::checked_operand(own ? brought.values : of, 5));
}
__global__ void asks_for_lane_32(float* y) {
  const simt::Exchanged brought = simt::warp_exchange(0xffffffff, threadIdx.x, {"", 0, simt::Call::shfl});
  y[threadIdx.x] = static_cast<float>(simt::checked_value(brought.values, 0xffffffff, 32, {"", 0, simt::Call::ballot}));
}
__global__ void announces(const float* x, unsigned bytes) { simt::before_atomic(x, bytes); }

__global__ void through_thread_0(const float* x, float* y) {
  __shared__ float* of_thread_0;
  float own[32];
  if (threadIdx.x == 0) of_thread_0 = own;
  __syncthreads();
  float* const theirs = of_thread_0;
  theirs[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = theirs[threadIdx.x];
}

__global__ void above_its_frames(float* y) {
  volatile float own[2] = {1, 2};
  volatile float* p = own;
  for (int i = 0; i < 4096; i++) p[i] = y[0];  // a page and more
}

__constant__ float table[2];
const float fixed[2] = {1, 2};
__global__ void writes_const(const float* x) { const_cast<volatile float*>(fixed)[1] = x[0]; }
__global__ void writes_built_in() { *const_cast<volatile unsigned*>(&threadIdx.x) = 1; }
__global__ void past_a_local_array(const int* x, float* y) {
  float own[8];
  for (int i = 0; i < 8; i++) own[i] = y[i];
  y[0] = own[x[0]];  // past the end
}
__global__ void writes_constant(const float* x) { table[1] = x[0]; }
struct Pair {
  int first, second;
};
__global__ void writes_argument(const Pair& pair) { const_cast<volatile Pair&>(pair).second = 1; }
__global__ void reads_constants(float* y) { y[0] = table[1] + fixed[threadIdx.x]; }

__global__ void beside_dynamic_shared(float* y, int i) {
  extern __shared__ float row[];
  row[threadIdx.x] = row[15] = 1.0f;
  y[threadIdx.x] = row[i];
}

__global__ void before_dynamic_shared(float* y) {
  extern __shared__ float row[];
  row[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x - 1];
}
__global__ void before_a_buffer(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x - 1]; }

__global__ void past_static_shared(float* y, int i) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x + i];
}

__global__ void fills_dynamic() {
  extern __shared__ float numbers[];
  numbers[threadIdx.x] = 1;
}

__global__ void half_filled(float* y) {
  __shared__ float row[n];
  if (threadIdx.x < n / 2) row[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x];
}

struct Candidate {
  float value;
  int index;
};
// Elements of 8 bytes, accessed by halves.
__global__ void race_of_candidates(float* y) {
  __shared__ Candidate list[n];
  list[threadIdx.x].index = 1;
  y[threadIdx.x] = list[n - 1 - threadIdx.x].index;
}

}  // namespace

TEST_CASE("memcheck: what the executor is asked to read is what a warp operation brought") {
  const auto* const memory = reinterpret_cast<const uint64_t*>(floats());
  CHECK(finding([=] { asks_for_a_lane<<<1, 32>>>(memory, floats(), true); }).empty());
  HAS(finding([=] { asks_for_a_lane<<<1, 32>>>(memory, floats(), false); }), "names other memory than that of");
  HAS(finding([] { asks_for_lane_32<<<1, 32>>>(floats()); }), "names other memory than that of");
  CHECK(finding([] { announces<<<1, 1>>>(floats(), 4); }).empty());
  HAS(finding([] { announces<<<1, 1>>>(floats(), 0); }), "an atomic access of 0 bytes: there is none");
}

TEST_CASE("memcheck: out of bounds in global memory names the element") {
  const std::string text = finding([] {
    float *x = floats(), *y = floats();
    simt::checks::name_buffer(x, "x", 2, 32, sizeof(float));
    simt::checks::name_buffer(y, "y", 2, 31, sizeof(float));
    past_the_end<<<1, n>>>(x, y, 62);
  });
  HAS(text, "memcheck: out of bounds in global memory in block (0,0,0), thread (62,0,0) at ");
  HAS(text, AT("one too many"));
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
  HAS(text, AT("__global__ void copy"));
  HAS(finding([] { copy<<<1, n>>>(nullptr, floats()); }), "memcheck: null pointer");
  text = finding([] {
    const std::vector<float> host(n);
    copy<<<1, n>>>(host.data(), floats());
  });
  HAS(text, "memcheck: host memory");
  HAS(text, "reads 4 bytes at address 0x");
  HAS(text, "copy with cudaMemcpy");
  HAS(finding([] { copy<<<1, n>>>(reinterpret_cast<float*>(uintptr_t{1} << 46), floats()); }),
      "memcheck: invalid address");
}

// What a GPU faults faults here: a kernel has device memory, shared memory, its own local memory; constants and the
// arguments of its launch to read.
TEST_CASE("memcheck: a kernel has no memory of the host's") {
  static std::vector<float> on_heap(n);
  float on_stack[n];
  for (float* host : {on_heap.data(), on_stack}) {
    for (const bool writes : {false, true}) {
      const std::string text =
          finding([&] { writes ? copy<<<1, n>>>(floats(), host) : copy<<<1, n>>>(host, floats()); });
      HAS(text, "memcheck: host memory in block (0,0,0), thread (0,0,0) at ");
      HAS(text, writes ? "writes 4 bytes" : "reads 4 bytes");
    }
    HAS(finding([&] { add_one<<<1, n>>>(host); }), "memcheck: host memory");
  }
  HAS(finding([&] { copy<<<1, n>>>(reinterpret_cast<float*>(stdout), floats()); }), "memcheck: host memory");
}

TEST_CASE("memcheck: a thread has no local memory but its own") {
  const std::string text = finding([] { through_thread_0<<<1, 32>>>(floats(), floats()); });
  HAS(text, "memcheck: local memory of another thread in block (0,0,0), thread (");
  HAS(text, AT("theirs[threadIdx.x] = x[threadIdx.x]"));
  HAS(text, "writes 4 bytes at the local memory of thread (0,0,0)");
  CHECK(finding([] { through_thread_0<<<1, 1>>>(floats(), floats()); }).empty());
}

#if defined(__x86_64__)
TEST_CASE("memcheck: an index far past a local array") {
  const auto of = [](int index) {
    return finding([&] { past_a_local_array<<<1, 1>>>(device(std::vector{index}), floats()); });
  };
  CHECK(of(7).empty());
  HAS(of(1 << 13), "memcheck: ");
  HAS(of(1 << 13), AT("// past the end"));
  HAS(of(1 << 28), AT("// past the end"));
}
#endif

TEST_CASE("memcheck: above its own frames a thread's stack is the executor's") {
  const std::string text = finding([] { above_its_frames<<<1, 1>>>(floats()); });
  HAS(text, "memcheck: local memory of another thread");
  HAS(text, "outside of every array of its own");
}

TEST_CASE("memcheck: constants and arguments can be read, not written") {
  std::string text = finding([] { writes_constant<<<1, 1>>>(floats()); });
  HAS(text, "memcheck: write to constant memory");
  HAS(text, "writes 4 bytes at the variable table");
  HAS(text, AT("table[1] = x[0]"));
#if defined(__x86_64__)
  HAS(finding([] { writes_const<<<1, 1>>>(floats()); }), "memcheck: write to constant memory");
  HAS(finding([] { writes_built_in<<<1, 1>>>(); }), "memcheck: write to what a kernel can only read");
#endif
  text = finding([] { writes_argument<<<1, 1>>>(Pair{1, 2}); });
  HAS(text, "memcheck: write to what a kernel can only read");
  CHECK(finding([] {
          const float two = 2;
          cudaMemcpyToSymbol(table, &two, sizeof two, sizeof two);
          reads_constants<<<1, 1>>>(floats());
        }).empty());
}

TEST_CASE("memcheck: beside an allocation that has no name") {
  std::string text = finding([] { past_the_end<<<1, n>>>(floats(100), floats(n - 1), n); });
  HAS(text, "memcheck: out of bounds in global memory");
  HAS(text, "an address 1 byte past the end of an allocation of 252 bytes");
  text = finding([] { copy<<<1, n>>>(floats() - 4, floats()); });
  HAS(text, "an address 16 bytes before an allocation of 256 bytes");
}

TEST_CASE("memcheck: past all static shared memory") {
  const std::string text = finding([] { past_static_shared<<<1, 32>>>(floats(), 20000); });
  HAS(text, "memcheck: out of bounds in shared memory in block (0,0,0), thread (");
  HAS(text, AT("tile[threadIdx.x + i]"));
  CHECK(finding([] { past_static_shared<<<1, 32>>>(floats(), 0); }).empty());
}

TEST_CASE("memcheck: before shared memory, and far beyond it") {
  const auto dynamic = [](int i) { return finding([&] { beside_dynamic_shared<<<1, 1, 64>>>(floats(), i); }); };
  CHECK(dynamic(15).empty());
  const std::string text = dynamic(-1);
  HAS(text, "memcheck: out of bounds in shared memory in block (0,0,0), thread (0,0,0)");
  HAS(text, "it reads 4 bytes at an address 4 bytes before the block's dynamic shared memory.");
  const std::string beyond = dynamic(100000);
  HAS(beyond, "memcheck: invalid address in shared memory");
  HAS(beyond, "byte 400000 of the block's dynamic shared memory (64 bytes), beyond the block's shared memory");
  HAS(dynamic(-256), "memcheck: out of bounds in shared memory");
  HAS(dynamic(-257), "memcheck: invalid address in shared memory");
}

TEST_CASE("memcheck: another kernel's static shared memory") {
  const auto text = [](auto kernel, int i) { return finding([&] { kernel<<<1, 1>>>(floats(), i); }); };
  int found = 0;
  for (const auto kernel : {past_its_own<0>, past_its_own<1>, past_its_own<2>}) {
    CHECK(text(kernel, 63).empty());
    const std::string beyond = text(kernel, 64);
    found += beyond.find("memcheck: out of bounds in shared memory") != std::string::npos &&
             beyond.find("element 64 of own[64], which has 64") != std::string::npos;
  }
  CHECK(found >= 2);  // behind one of them a static kernel's may lie
}

TEST_CASE("memcheck: an unsigned index that went below 0") {
  const std::string shared = finding([] { past_its_own<0><<<1, 1>>>(floats(), -1); });
  HAS(shared, "memcheck: out of bounds in shared memory in block (0,0,0), thread (0,0,0)");
  HAS(shared, "an unsigned index went below 0");
  const std::string dynamic = finding([] { before_dynamic_shared<<<1, 4, 16>>>(floats()); });
  HAS(dynamic, "it reads 4 bytes at an address 4 bytes before the block's dynamic shared memory: an unsigned index");
  const std::string global = finding([] { before_a_buffer<<<1, 4>>>(floats(), floats()); });
  HAS(global, "memcheck: out of bounds in global memory in block (0,0,0), thread (0,0,0)");
  HAS(global,
      "it reads 4 bytes at an address 4 bytes before an allocation of 256 bytes: an unsigned index went below 0");
}

TEST_CASE("host code that touches device memory") {
  const std::string read = finding([] {
    volatile float* x = floats();
    x[0] = x[1];  // by the host
  });
  HAS(read, "host code touches device memory");
  HAS(read, AT("by the host"));
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

TEST_CASE("initcheck: shared and global memory that nothing wrote") {
  std::string text = finding([] { half_filled<<<1, n>>>(floats()); });
  HAS(text, "initcheck: uninitialised shared memory in block (0,0,0), thread (");
  HAS(text, AT("y[threadIdx.x] = row[threadIdx.x];"));
  HAS(text, "and nothing has written it in this block of 64 threads.");
  HAS(text,
      "does the loop that fills it reach every element? Does the block have as many threads as the kernel expects?");
  text = finding([] {
    float* x = nullptr;
    cudaMalloc(&x, n * sizeof(float));
    copy<<<1, n>>>(x, floats());
  });
  HAS(text, "initcheck: uninitialised global memory");
  CHECK(finding([] { half_filled<<<1, n / 2>>>(floats()); }).empty());
}

TEST_CASE("memcheck: a launch that gives elements where bytes are meant") {
  HAS(finding([] { fills_dynamic<<<1, 33, 33>>>(); }),
      "Elements of 4 bytes cannot fill that: the third argument of <<< >>> is a number of bytes.");
  const std::string text = finding([] { fills_dynamic<<<1, 33, 32 * sizeof(float)>>>(); });
  HAS(text, "memcheck: out of bounds in shared memory");
  CHECK(text.find("cannot fill that") == std::string::npos);
  CHECK(finding([] { fills_dynamic<<<1, 33, 33 * sizeof(float)>>>(); }).empty());
}

TEST_CASE("elements are counted in their own length, not in that of the access") {
  HAS(finding([] { race_of_candidates<<<1, n>>>(floats()); }), " of list[64] at ");
}
