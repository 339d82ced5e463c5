// What a program asks of memory and devices beside using them: advice on managed memory by pages, flags of pinned
// memory, access to pools, attributes of streams, devices by their address on the bus.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

constexpr size_t pages = 8, page = 4096;

__global__ void add_one(char* bytes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) bytes[i]++;
}
__global__ void add_four(float4* sum) { atomicAdd(sum, make_float4(1, 2, 3, threadIdx.x)); }

int attribute_of(const char* memory, size_t bytes, cudaMemRangeAttribute attribute) {
  int value = -7;
  CHECK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes));
  return value;
}

int main(int argc, char** argv) {
  if (argc > 1 && !isdigit(argv[1][0])) return 1;  // <ctype.h> comes with CUDA's headers
  int device;
  CHECK(cudaGetDevice(&device));
  char* memory;
  CHECK(cudaMallocManaged(&memory, pages * page));
  EXPECT(attribute_of(memory, pages * page, cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
  CHECK(cudaMemAdvise(memory, 4 * page, cudaMemAdviseSetReadMostly, device));
  CHECK(cudaMemAdvise(memory, pages * page, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  CHECK(cudaMemAdvise(memory, pages * page, cudaMemAdviseSetAccessedBy, device));
  CHECK(cudaMemPrefetchAsync(memory, 2 * page, device));
  EXPECT(attribute_of(memory, 4 * page, cudaMemRangeAttributeReadMostly) == 1);
  EXPECT(attribute_of(memory, 5 * page, cudaMemRangeAttributeReadMostly) == 0);
  EXPECT(attribute_of(memory + 4 * page, page, cudaMemRangeAttributeReadMostly) == 0);
  EXPECT(attribute_of(memory, pages * page, cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
  EXPECT(attribute_of(memory, 2 * page, cudaMemRangeAttributeLastPrefetchLocation) == device);
  EXPECT(attribute_of(memory, 3 * page, cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
  int accessed[3];
  CHECK(cudaMemRangeGetAttribute(accessed, sizeof accessed, cudaMemRangeAttributeAccessedBy, memory, pages * page));
  EXPECT(accessed[0] == device && accessed[1] == cudaInvalidDeviceId);
  CHECK(cudaMemset(memory, 1, pages * page));
  add_one<<<pages, 512>>>(memory, pages * 512);
  CHECK(cudaDeviceSynchronize());
  EXPECT(memory[0] == 2 && memory[pages * page - 1] == 1);

  char* own;
  CHECK(cudaMalloc(&own, page));
  EXPECT(cudaMemAdvise(own, page, cudaMemAdviseSetReadMostly, device) == cudaErrorInvalidValue);
  EXPECT(cudaMemPrefetchAsync(own, page, device) == cudaErrorInvalidValue);
  (void)cudaGetLastError();

  unsigned flags;
  char* pinned;
  CHECK(cudaHostAlloc(&pinned, 100, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  CHECK(cudaHostGetFlags(&flags, pinned));
  EXPECT(flags == (cudaHostAllocMapped | cudaHostAllocWriteCombined));
  EXPECT(cudaHostGetFlags(&flags, own) == cudaErrorInvalidValue);
  (void)cudaGetLastError();

  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  cudaMemLocation place = {cudaMemLocationTypeDevice, device};
  cudaMemAccessDesc access = {place, cudaMemAccessFlagsProtReadWrite};
  CHECK(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags told;
  CHECK(cudaMemPoolGetAccess(&told, pool, &place));
  EXPECT(told == cudaMemAccessFlagsProtReadWrite);

  cudaStream_t stream, other;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  cudaStreamAttrValue window = {}, same = {};
  window.accessPolicyWindow.num_bytes = page;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
  CHECK(cudaStreamCopyAttributes(other, stream));
  CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &same));
  EXPECT(same.accessPolicyWindow.num_bytes == page);

  char id[32];
  int found;
  CHECK(cudaDeviceGetPCIBusId(id, sizeof id, device));
  CHECK(cudaDeviceGetByPCIBusId(&found, id));
  EXPECT(found == device);
  CHECK(cudaInitDevice(device, 0, 0));

  float4* sum;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  *sum = make_float4(0, 0, 0, 0);
  add_four<<<1, 10>>>(sum);
  CHECK(cudaDeviceSynchronize());
  EXPECT(sum->x == 10 && sum->y == 20 && sum->z == 30 && sum->w == 45);
  std::printf("PASS\n");
  return 0;
}
