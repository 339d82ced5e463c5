// The driver API beside the runtime: devices, a context, memory, streams and events of the one in a launch of the
// other. A pool that asks whether there is virtual memory management, and goes on without it.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

static void check(CUresult result, int line) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  std::printf("FAIL: line %d: %s: %s\n", line, name, text);
  wrong++;
}
#define CU_CHECK(call) check(call, __LINE__)

__global__ void add(unsigned* values, unsigned what, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += what;
}

static CUdeviceptr from_pool(CUdevice device, size_t bytes) {
  int has_virtual_memory = 0;
  CU_CHECK(cuDeviceGetAttribute(&has_virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  CUdeviceptr pointer = 0;
  if (has_virtual_memory) {
    CUmemAllocationProp property = {};
    property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    property.location.id = device;
    size_t granularity = 0;
    CU_CHECK(cuMemGetAllocationGranularity(&granularity, &property, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CU_CHECK(cuMemAddressReserve(&pointer, bytes, 0, 0, 0));
  } else {
    CU_CHECK(cuMemAlloc(&pointer, bytes));
  }
  return pointer;
}

int main() {
  CU_CHECK(cuInit(0));
  int count = 0, major = 0, threads = 0, version = 0;
  CU_CHECK(cuDriverGetVersion(&version));
  CU_CHECK(cuDeviceGetCount(&count));
  EXPECT(count >= 1);
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));
  EXPECT(cuDeviceGet(&device, 99) == CUDA_ERROR_INVALID_DEVICE);
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, device));
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CU_CHECK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  EXPECT(std::strcmp(name, properties.name) == 0 && major == properties.major &&
         threads == properties.maxThreadsPerBlock);
  EXPECT(cuDeviceGetAttribute(&major, static_cast<CUdevice_attribute>(100000), device) == CUDA_ERROR_INVALID_VALUE);

  CUcontext context, current, popped;
  CU_CHECK(cuCtxCreate(&context, CU_CTX_SCHED_AUTO, device));
  CU_CHECK(cuCtxGetCurrent(&current));
  EXPECT(context && current == context);
  CUstream stream;
  CUevent start, stop;
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CU_CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));

  const int n = 1000;
  const size_t bytes = n * sizeof(unsigned);
  CUdeviceptr values = from_pool(device, bytes), copy;
  CU_CHECK(cuMemAllocAsync(&copy, bytes, stream));
  CU_CHECK(cuMemsetD32Async(values, 0x01020304u, n, stream));
  CU_CHECK(cuEventRecord(start, stream));
  add<<<(n + 127) / 128, 128, 0, stream>>>(reinterpret_cast<unsigned*>(values), 6, n);
  CU_CHECK(cuMemcpyDtoDAsync(copy, values, bytes, stream));
  CU_CHECK(cuEventRecord(stop, stream));
  CU_CHECK(cuEventSynchronize(stop));
  float milliseconds = -1;
  CU_CHECK(cuEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);
  std::vector<unsigned> host(n);
  CU_CHECK(cuMemcpyDtoH(host.data(), copy, bytes));
  for (unsigned value : host) EXPECT(value == 0x0102030au);
  for (int i = 0; i < n; i++) host[i] = i;
  CU_CHECK(cuMemcpyHtoD(values, host.data(), bytes));
  CU_CHECK(cuMemsetD16(values + 4, 0xabcd, 2));
  CU_CHECK(cuMemsetD8(values, 7, 3));
  add<<<(n + 127) / 128, 128, 0, stream>>>(reinterpret_cast<unsigned*>(values), 1, n);
  CU_CHECK(cuStreamSynchronize(stream));
  CU_CHECK(cuMemcpyDtoHAsync(host.data(), values, bytes, stream));
  CU_CHECK(cuCtxSynchronize());
  EXPECT(host[0] == 0x00070708u && host[1] == 0xabcdabceu && host[2] == 3 && host[n - 1] == n);
  EXPECT(cuMemsetD32(values + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);

  CU_CHECK(cuMemFreeAsync(copy, stream));
  CU_CHECK(cuMemFree(values));
  CU_CHECK(cuEventDestroy(start));
  CU_CHECK(cuEventDestroy(stop));
  CU_CHECK(cuStreamDestroy(stream));
  CU_CHECK(cuCtxPopCurrent(&popped));
  EXPECT(popped == context);
  EXPECT(cuCtxPopCurrent(&popped) == CUDA_ERROR_INVALID_CONTEXT);
  CU_CHECK(cuCtxDestroy(context));
  const char* error = nullptr;
  CU_CHECK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &error));
  EXPECT(std::strcmp(error, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
  EXPECT(cuGetErrorName(static_cast<CUresult>(98765), &error) == CUDA_ERROR_INVALID_VALUE && !error);
  if (!wrong) std::printf("PASS\n");
  return wrong ? 1 : 0;
}
