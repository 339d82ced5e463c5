// memcheck, and memory that is read before it is written. Each mistake has a kernel that makes it and one that is near
// to it and right.
#include "checks/test_checks.h"

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

__global__ void past_static_shared(float* y, int i) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x + i];
}

__global__ void half_filled(float* y) {
  __shared__ float row[n];
  if (threadIdx.x < n / 2) row[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x];
}

}  // namespace

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
  HAS(text, AT("tile[threadIdx.x + i]"));
  CHECK(finding([] { past_static_shared<<<1, 32>>>(floats(), 0); }).empty());
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
  text = finding([] {
    float* x = nullptr;
    cudaMalloc(&x, n * sizeof(float));
    copy<<<1, n>>>(x, floats());
  });
  HAS(text, "initcheck: uninitialised global memory");
  CHECK(finding([] { half_filled<<<1, n / 2>>>(floats()); }).empty());
}
